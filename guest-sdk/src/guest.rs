//! Connects the component's exports to a [`Resolver`].

use std::marker::PhantomData;
use std::panic;

use crate::bindings::exports::portcullis::resolver::resolver::Guest;
use crate::host::Imports;
use crate::{Descriptor, Error, Host, Level, Request, Resolution, Resolver};

/// The type that `export_resolver!` exports.
pub struct Exported<R>(PhantomData<R>);

impl<R: Resolver> Guest for Exported<R> {
    fn describe() -> Descriptor {
        log_panics();
        R::describe()
    }

    fn resolve(request: Request) -> Result<Resolution, Error> {
        log_panics();
        R::resolve(&request, &Imports)
    }
}

/// Logs the text of a panic to the host. The trap that follows carries no text.
fn log_panics() {
    panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
        Imports.log(Level::Critical, &format!("{text}{}", place.unwrap_or_default()));
    }));
}
