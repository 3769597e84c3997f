//! A resolver whose `describe` never returns.

use portcullis_guest_sdk::{
    Descriptor, Error, Host, Request, Resolution, Resolver, export_resolver,
};

struct Stuck;

impl Resolver for Stuck {
    fn describe() -> Descriptor {
        loop {
            std::hint::black_box(());
        }
    }

    fn resolve(_: &Request, _: &impl Host) -> Result<Resolution, Error> {
        Ok(Resolution::new(vec![], vec![]))
    }
}

export_resolver!(Stuck);
