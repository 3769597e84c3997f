//! The result of a use case that changes what decisions depend on.

/// A record after a change, and the policy revision of the tenant that includes the change.
#[derive(Debug)]
pub struct Written<T> {
    pub record: T,
    pub revision: u64,
}
