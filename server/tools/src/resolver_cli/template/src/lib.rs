//! `{{namespace}}.level`: how far the subject of a check is trusted, as the configuration says.
//!
//! Configuration: `levels` as `ann=3, bob=1`.

use portcullis_guest_sdk::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Error, Host, Kind, Level, Request, Resolution,
    Resolver, Value, export_resolver,
};

/// The resolver.
pub struct Levels;

impl Resolver for Levels {
    fn describe() -> Descriptor {
        Descriptor {
            // What of a check the answers depend on: the resolver is shown nothing else, and they are cached by it.
            inputs: vec!["subject".into()],
            // Policies are checked against the kind, and answers are kept for this many milliseconds.
            attributes: vec![AttributeSpec::new("level", Kind::Number, 60_000)],
            config_keys: vec![ConfigKey::required("levels")],
            ..Descriptor::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }

    fn resolve(request: &Request, host: &impl Host) -> Result<Resolution, Error> {
        let levels = host.config("levels").unwrap_or_default();
        for entry in levels.split(',') {
            let Some((subject, level)) = entry.split_once('=') else {
                return Err(Error::Internal(format!(
                    "`levels`: expected `name=number`, not `{entry}`"
                )));
            };
            if subject.trim() == request.subject {
                let level = level.trim().parse().map_err(|_| {
                    Error::Internal(format!("`levels`: expected a number, not `{level}`"))
                })?;
                return Ok(Attribute::new("level", Value::Number(level)).into());
            }
        }
        host.log(Level::Debug, "nothing is known of the subject");
        // That there is no level is an answer too.
        Ok(Resolution::new(vec![], vec!["level".into()]))
    }
}

export_resolver!(Levels);

#[cfg(test)]
mod tests {
    use portcullis_guest_sdk::testing::{MockHost, request};

    use super::*;

    fn resolve(subject: &str, levels: &str) -> Result<Resolution, Error> {
        let asked = Request {
            subject: subject.into(),
            ..request(&["level"])
        };
        Levels::resolve(&asked, &MockHost::new().config("levels", levels))
    }

    #[test]
    fn the_level_is_that_of_the_configuration() {
        let level = Attribute::new("level", Value::Number(3.0));
        assert_eq!(resolve("ann", "bob=1, ann=3"), Ok(level.into()));
    }

    #[test]
    fn somebody_unknown_has_none() {
        assert_eq!(
            resolve("eve", "ann=3"),
            Ok(Resolution::new(vec![], vec!["level".into()]))
        );
    }

    #[test]
    fn malformed_levels_are_an_internal_error() {
        for levels in ["", "ann", "ann=high"] {
            assert!(
                matches!(resolve("ann", levels), Err(Error::Internal(_))),
                "{levels}"
            );
        }
    }
}
