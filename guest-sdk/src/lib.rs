//! Write attribute resolvers for Portcullis.
//!
//! A resolver is a policy information point (PIP). It gets the inputs of a check (subject, resource, action, domain,
//! attributes) and answers the attributes of one namespace, such as `geo.country`. Policies read these attributes.
//!
//! A resolver is a WebAssembly component. A crate with `crate-type = ["cdylib"]` that depends on this one becomes a
//! component by `cargo build --target wasm32-wasip2 --release`. `wit/resolver.wit` is the whole contract; the types of
//! this crate are generated from it.
//!
//! ```
//! use portcullis_guest_sdk::testing::{MockHost, request};
//! use portcullis_guest_sdk::{
//!     Attribute, AttributeSpec, ConfigKey, Descriptor, Error, Host, Kind, Request, Resolution, Resolver, Value,
//!     export_resolver,
//! };
//!
//! /// Answers `hours.open`: true from `opens` to `closes` o'clock UTC.
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
//! // Test the resolver natively, without WebAssembly.
//! let host = MockHost::new().config("opens", "8").config("closes", "18");
//! let noon = Request { now_ms: 12 * 3_600_000, ..request(&["open"]) };
//! let resolution = BusinessHours::resolve(&noon, &host)?;
//! assert_eq!(resolution.attributes[0].value, Value::Boolean(true));
//! # Ok::<(), Error>(())
//! ```

// `export_resolver!` expands to paths that start with the name of this crate.
extern crate self as portcullis_guest_sdk;

#[doc(hidden)]
pub mod bindings;
mod guest;
mod host;
mod path;
mod resolver;
pub mod testing;
mod types;

pub use bindings::portcullis::resolver::http::{HttpRequest, HttpResponse, Method};
pub use bindings::portcullis::resolver::log::Level;
pub use bindings::portcullis::resolver::types::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Error, Failure, FailureKind, Input, Kind,
    Request, Resolution, Value,
};
pub use host::Host;
pub use path::path_segment;
pub use resolver::Resolver;

#[doc(hidden)]
pub use guest::Exported;
#[doc(hidden)]
pub use wit_bindgen;

/// Exports a [`Resolver`] from the component. Use it once in a crate. It does nothing in a native build.
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
