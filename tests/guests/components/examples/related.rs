//! A resolver that answers with the relations that it gets.

use portcullis_guest_sdk::{
    Attribute, AttributeSpec, Descriptor, Error, Host, Kind, Request, Resolution, Resolver, Value,
    export_resolver,
};

struct Related;

impl Resolver for Related {
    fn describe() -> Descriptor {
        Descriptor {
            inputs: ["relation.viewer", "relation.group:eng#member"].map(str::to_owned).to_vec(),
            attributes: vec![AttributeSpec::new("seen", Kind::Text, 60_000)],
            ..Descriptor::new("related", "1.0.0")
        }
    }

    fn resolve(request: &Request, _: &impl Host) -> Result<Resolution, Error> {
        let seen = request.ext.iter().map(|(name, value)| format!("{name}={value}"));
        let seen = Value::Text(seen.collect::<Vec<_>>().join(" "));
        Ok(Resolution::new(vec![Attribute::new("seen", seen)], vec![]))
    }
}

export_resolver!(Related);
