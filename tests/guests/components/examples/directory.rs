//! A resolver that behaves well: it answers the department in its configuration.

use portcullis_guest_sdk::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Error, Host, Kind, Request, Resolution,
    Resolver, Value, export_resolver,
};

struct Directory;

impl Resolver for Directory {
    fn describe() -> Descriptor {
        Descriptor {
            inputs: vec!["subject".to_owned(), "roles".to_owned()],
            attributes: vec![
                AttributeSpec::new("department", Kind::Text, 60_000),
                AttributeSpec::new("manager", Kind::Boolean, 1_000),
            ],
            config_keys: vec![ConfigKey::required("department")],
            ..Descriptor::new("directory", "1.0.0")
        }
    }

    /// Answers the department of the configuration; strangers have none.
    fn resolve(request: &Request, host: &impl Host) -> Result<Resolution, Error> {
        let mut resolution = Resolution::new(vec![], vec![]);
        for name in &request.wanted {
            match name.as_str() {
                "department" if request.subject == "stranger" => {
                    resolution.absent.push(name.clone());
                }
                "department" => {
                    let department = host.config("department").unwrap_or_default();
                    let attribute = Attribute::new(name, Value::Text(department));
                    resolution.attributes.push(Attribute { ttl_ms: Some(5_000), ..attribute });
                }
                _ => {
                    let manager = request.roles.iter().any(|role| role == "manager");
                    resolution.attributes.push(Attribute::new(name, Value::Boolean(manager)));
                }
            }
        }
        Ok(resolution)
    }
}

export_resolver!(Directory);
