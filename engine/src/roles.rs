//! The roles of a subject, as a token or a request lists them.

use crate::json::Json;

/// The roles of a subject.
#[derive(Clone, Copy, Debug)]
pub enum Roles<'r> {
    /// From the caller's token.
    Claimed(&'r [String]),
    /// From `attributes.user.roles`: a list, or one string.
    Supplied(&'r [Json<'r>]),
    /// Those of a request or of a token, with the roles that they include.
    Listed(&'r [&'r str]),
    /// From the directory, all or some of them.
    Stored(&'r [&'r str]),
    /// None, whatever was claimed: the directory does not know the subject.
    Withheld,
}

impl<'r> Roles<'r> {
    /// Returns each role. Ignores items that are not strings.
    pub fn iter(self) -> impl Iterator<Item = &'r str> {
        let (claimed, supplied, listed): (&[String], &[Json<'_>], &[&str]) = match self {
            Self::Claimed(roles) => (roles, &[], &[]),
            Self::Supplied(items) => (&[], items, &[]),
            Self::Listed(roles) | Self::Stored(roles) => (&[], &[], roles),
            Self::Withheld => (&[], &[], &[]),
        };
        let supplied = supplied.iter().filter_map(Json::as_str);
        claimed.iter().map(String::as_str).chain(supplied).chain(listed.iter().copied())
    }
}
