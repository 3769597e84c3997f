//! The question of a search.

use crate::request::Check;

/// The part of a request that a search leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Searched {
    /// `resource.*`.
    Resource,
    /// `request.subject`, `request.roles` and `user.*`.
    Subject,
}

/// The known part of the requests of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchInput<'c> {
    /// The check without the searched part. Its attributes of the searched part hold for every candidate that has no other.
    pub check: &'c Check<'c>,
    /// The searched part.
    pub searched: Searched,
    /// Whether the request gives the candidates, with attributes that replace those of the check.
    pub is_given: bool,
}
