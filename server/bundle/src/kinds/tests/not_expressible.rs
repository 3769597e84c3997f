//! The faults that a reader finds and a schema cannot.

use std::fs;
use std::path::Path;

use portcullis_test_schemas::JudgingSchema;

use crate::kinds::SCHEMAS;

/// A part of the message of each fault that no JSON Schema expresses, and the reason.
pub(crate) const NOT_EXPRESSIBLE: &[(&str, &str)] = &[
    ("expected the `sub` of a user of tenant.yaml", "another file has the names"),
    ("expected the name of a policy, a rule written", "other files have the names"),
    ("expected the namespace of a resolver of the tenant", "another file has the names"),
    ("expected an attribute of the resolver", "a descriptor has the names"),
    ("/resolved/", "a descriptor has the kinds of attributes"),
    ("; resolver `", "a descriptor has the names"),
    ("there is no resolver", "another file has the names"),
    ("compares with this value", "a descriptor has the kinds of attributes"),
    ("expected a resolver, but neither", "the files of the resolver are outside"),
    ("can be read, but", "the files of the resolver are outside"),
    ("expected an endpoint of the resolver", "a manifest has the names"),
    ("is the name of one of `secrets`", "the names are in another member"),
    ("expected no responses for", "the names are in another member"),
    ("expected a unique", "a schema compares whole items, not one member of each"),
    ("a role cannot include itself", "a schema does not follow names"),
    ("only properties of `user` can be claims", "the type is in another member"),
    ("the directory has neither `context` nor", "the type is in another member"),
    ("not valid YAML", "the syntax comes before the content"),
    (" position ", "a schema does not read expressions"),
    ("expected a regular expression", "a schema does not read patterns"),
    ("expected an IANA time zone", "the names are in the database of time zones"),
    ("expected a network such as", "a schema does not compare bits"),
    ("expected the name of a condition", "words have letters of every alphabet"),
    ("expected the name of a host", "the rules of host names are those of URLs"),
];

/// Returns whether no schema can refuse what the message is about.
pub(crate) fn is_not_expressible(message: &str) -> bool {
    NOT_EXPRESSIBLE.iter().any(|(part, _)| message.contains(part))
}

/// Checks that the schema refuses the file in which the reader finds this fault, unless no schema can.
#[track_caller]
pub(crate) fn is_refused_by_its_schema(file: &Path, message: &str) {
    let text = fs::read_to_string(file).expect("readable");
    // A schema is about what the syntax means.
    let Ok(content) = serde_saphyr::from_str(&text) else { return };
    let name = file.file_name().and_then(|name| name.to_str());
    let schema = SCHEMAS.into_iter().find(|schema| Some(schema.file) == name);
    let schema = JudgingSchema::new(&schema.expect("a schema").to_json());
    let is_known = !schema.accepts(&content) || is_not_expressible(message);
    assert!(is_known, "the schema accepts it, and no reason is known: {message}");
}
