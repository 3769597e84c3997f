//! The faults that a reader finds and a schema cannot.

/// A part of the message of each fault that no JSON Schema expresses, and the reason.
pub(crate) const NOT_EXPRESSIBLE: &[(&str, &str)] = &[
    ("expected the `sub` of a user of tenant.yaml", "another file has the names"),
    ("expected the name of a policy, a rule written", "other files have the names"),
    ("expected the namespace of a resolver of the tenant", "another file has the names"),
    ("expected an attribute of the resolver", "a descriptor has the names"),
    ("/resolved/", "a descriptor has the kinds of attributes"),
    ("compares with this value", "a descriptor has the kinds of attributes"),
    ("expected a resolver, but neither", "the files of the resolver are outside"),
    ("can be read, but", "the files of the resolver are outside"),
    ("expected an endpoint of the resolver", "a manifest has the names"),
    ("is the name of one of `secrets`", "the names are in another member"),
    ("expected a unique", "a schema compares whole items, not one member of each"),
    (" position ", "a schema does not read expressions"),
    ("expected a regular expression", "a schema does not read patterns"),
    ("expected an IANA time zone", "the names are in the database of time zones"),
    ("expected a network such as", "a schema does not compare bits"),
    ("expected the name of a host", "the rules of host names are those of URLs"),
];

/// Returns the reason why no schema refuses what the message is about.
pub(crate) fn is_not_expressible(message: &str) -> Option<&'static str> {
    let known = NOT_EXPRESSIBLE.iter().find(|(part, _)| message.contains(part));
    known.map(|(_, reason)| *reason)
}
