//! Write attribute resolvers for Portcullis.
//!
//! A resolver is a policy information point: it turns what a check knows (subject, resource, action, domain,
//! attributes) into the attributes of one namespace, which policies then read, as in `geo.country`. It is a
//! WebAssembly component; `cargo build --target wasm32-wasip2 --release` of a crate with `crate-type =
//! ["cdylib"]` that depends on this one makes it. `wit/resolver.wit` is the whole contract, and the types here
//! are made from it.
//!
//! ```
//! use portcullis_guest_sdk::testing::{MockHost, request};
//! use portcullis_guest_sdk::{
//!     Attribute, AttributeSpec, ConfigKey, Descriptor, Error, Host, Kind, Request, Resolution, Resolver, Value,
//!     export_resolver,
//! };
//!
//! /// `hours.open`: whether the shop is open, from `opens` to `closes` o'clock UTC.
//! struct BusinessHours;
//!
//! impl Resolver for BusinessHours {
//!     fn describe() -> Descriptor {
//!         Descriptor {
//!             attributes: vec![AttributeSpec::new("open", Kind::Boolean, 60_000)],
//!             config_keys: vec![ConfigKey::required("opens"), ConfigKey::required("closes")],
//!             ..Descriptor::new("business-hours", "1.0.0")
//!         }
//!     }
//!
//!     fn resolve(request: &Request, host: &impl Host) -> Result<Resolution, Error> {
//!         let hour_of = |key| -> Result<u64, Error> {
//!             let text = host.config(key).unwrap_or_default();
//!             text.parse().map_err(|_| Error::Internal(format!("`{key}` must be an hour, not `{text}`")))
//!         };
//!         let hour = request.now_ms / 3_600_000 % 24;
//!         let open = (hour_of("opens")?..hour_of("closes")?).contains(&hour);
//!         Ok(Attribute::new("open", Value::Boolean(open)).into())
//!     }
//! }
//!
//! export_resolver!(BusinessHours);
//!
//! // Tried natively, without WebAssembly.
//! let host = MockHost::new().config("opens", "8").config("closes", "18");
//! let noon = Request { now_ms: 12 * 3_600_000, ..request(&["open"]) };
//! let resolution = BusinessHours::resolve(&noon, &host)?;
//! assert_eq!(resolution.attributes[0].value, Value::Boolean(true));
//! # Ok::<(), Error>(())
//! ```

// The paths that `export_resolver!` writes into other crates begin with the name that they know this one by.
extern crate self as portcullis_guest_sdk;

#[doc(hidden)]
pub mod bindings;
mod guest;
mod host;
pub mod testing;
mod types;

pub use bindings::portcullis::resolver::http::{HttpRequest, HttpResponse, Method};
pub use bindings::portcullis::resolver::log::Level;
pub use bindings::portcullis::resolver::types::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Error, Failure, FailureKind, Input, Kind,
    Request, Resolution, Value,
};
pub use host::Host;

#[doc(hidden)]
pub use guest::Exported;
#[doc(hidden)]
pub use wit_bindgen;

/// Answers the attributes of one namespace.
pub trait Resolver {
    /// What the resolver is: the attributes that it answers, and what it needs of the manifest.
    fn describe() -> Descriptor;

    /// Answers the attributes that `request.wanted` names. `host` is known at compile time, so that the component imports
    /// what is called of it and nothing else.
    ///
    /// # Errors
    /// The attributes are undetermined for this check: policies that deny then apply, policies that allow do not.
    fn resolve(request: &Request, host: &impl Host) -> Result<Resolution, Error>;
}

/// Makes a [`Resolver`] what the component exports. Once in a crate; natively it does nothing.
#[macro_export]
macro_rules! export_resolver {
    ($resolver:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Exported = $crate::Exported<$resolver>;
    $crate::bindings::export!(Exported with_types_in $crate::bindings);
        };
    };
}
