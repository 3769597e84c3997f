//! A resolver that opens a connection.

use portcullis_guest_sdk::{
    Attribute, AttributeSpec, Descriptor, Error, Host, Kind, Request, Resolution, Resolver, Value,
    export_resolver,
};

struct Sockets;

impl Resolver for Sockets {
    fn describe() -> Descriptor {
        Descriptor {
            attributes: vec![AttributeSpec::new("size", Kind::Number, 0)],
            ..Descriptor::new("sockets", "1.0.0")
        }
    }

    fn resolve(_: &Request, _: &impl Host) -> Result<Resolution, Error> {
        let size = std::net::TcpStream::connect("127.0.0.1:80").map(|_| 0);
        let size = size.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Attribute::new("size", Value::Number(size as f64)).into())
    }
}

export_resolver!(Sockets);
