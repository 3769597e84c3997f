//! A resolver that reads its configuration in `describe`, which is too early.

use portcullis_guest_sdk::bindings::portcullis::resolver::config;
use portcullis_guest_sdk::{
    Descriptor, Error, Host, Request, Resolution, Resolver, export_resolver,
};

struct Curious;

impl Resolver for Curious {
    fn describe() -> Descriptor {
        Descriptor::new(config::get("name").unwrap_or_default(), "1.0.0")
    }

    fn resolve(_: &Request, _: &impl Host) -> Result<Resolution, Error> {
        Ok(Resolution::new(vec![], vec![]))
    }
}

export_resolver!(Curious);
