//! The columns of requests and policy lines, and how a matcher compares them.

/// A column of a request or of a policy line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Sub,
    Dom,
    Obj,
    Act,
    Eft,
}

/// The domains in which a role line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoleScope {
    /// `g = _, _`
    Everywhere,
    /// `g = _, _, _`
    ByDomain,
}

/// The way in which a matcher compares a value of the request with that of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// `r.x == p.x`: a `*` is a plain character.
    Equal,
    /// `(r.x == p.x || p.x == "*")`
    OrStar,
    /// `keyMatch(r.x, p.x)`: Casbin ignores the text after a `*`.
    KeyMatch,
    /// `g(r.sub, p.sub)`, or `g(r.sub, p.sub, r.dom)`.
    Role(RoleScope),
}

impl Column {
    /// Returns the name of the column in a model file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sub => "sub",
            Self::Dom => "dom",
            Self::Obj => "obj",
            Self::Act => "act",
            Self::Eft => "eft",
        }
    }

    /// Returns the column with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let all = [Self::Sub, Self::Dom, Self::Obj, Self::Act, Self::Eft];
        all.into_iter().find(|column| column.name() == name)
    }
}
