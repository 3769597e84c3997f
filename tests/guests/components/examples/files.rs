//! A resolver that reads a file.

use portcullis_guest_sdk::{
    Attribute, AttributeSpec, Descriptor, Error, Host, Kind, Request, Resolution, Resolver, Value,
    export_resolver,
};

struct Files;

impl Resolver for Files {
    fn describe() -> Descriptor {
        Descriptor {
            attributes: vec![AttributeSpec::new("size", Kind::Number, 0)],
            ..Descriptor::new("files", "1.0.0")
        }
    }

    fn resolve(_: &Request, _: &impl Host) -> Result<Resolution, Error> {
        let size = std::fs::read_to_string("/etc/passwd").map(|text| text.len());
        let size = size.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Attribute::new("size", Value::Number(size as f64)).into())
    }
}

export_resolver!(Files);
