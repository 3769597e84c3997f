//! The reasons why a case is not decided (`docs/semantics.md`, section 10.9).

/// Most work for all cases together, in bytes of compiled plans. The compilation of 64 MiB takes some two seconds of one
/// core, in which no other write of the tenant runs.
pub(crate) const MAX_WORK: usize = 64 * 1024 * 1024;

/// The cause for which a case is not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipCause {
    /// The decision depends on the resolver of this namespace, which `resolved` does not name.
    Resolver(String),
    /// The decision depends on relations, and the case has no `relations`.
    Relations,
    /// The cases before it took all the work that is allowed.
    TooMuchWork,
    /// The cases before it took all the time that is allowed.
    TooMuchTime,
}

impl SkipCause {
    /// Returns the cause as a sentence.
    pub fn reason(&self) -> String {
        match self {
            Self::Resolver(namespace) => format!(
                "the decision depends on the resolver `{namespace}`; give its answers as `resolved.{namespace}`"
            ),
            Self::Relations => "the decision depends on relations; give the tuples that count as `relations`, `[]` if there are none"
                .to_owned(),
            Self::TooMuchWork => format!(
                "the plans of all cases together have more than {} MiB; write cases about fewer resources",
                MAX_WORK / 1024 / 1024
            ),
            Self::TooMuchTime => {
                "the cases before it took all the time of a judgement; write fewer cases, shorter values or simpler patterns"
                    .to_owned()
            }
        }
    }
}
