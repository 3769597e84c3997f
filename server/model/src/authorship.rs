//! Authorship of records, and the members by which records show it.

use crate::timestamp::Timestamp;

/// The author of a change, and its instant.
#[derive(Clone, Debug)]
pub struct Authorship {
    /// A token's `sub`.
    pub actor: String,
    pub at: Timestamp,
}

/// Declares a record with the members that say who made it and who changed it last. They follow its own, and `$more`
/// follows them.
macro_rules! authored_record {
    (
        $(#[$about:meta])*
        pub struct $name:ident { $($members:tt)* }
        $($more:tt)*
    ) => {
        $(#[$about])*
        pub struct $name {
            $($members)*
            pub created_by: String,
            pub created_at: $crate::Timestamp,
            #[schema(required)]
            pub updated_by: Option<String>,
            #[schema(required)]
            pub updated_at: Option<$crate::Timestamp>,
            $($more)*
        }
    };
}

/// Declares an [`authored_record`] that may have an owner.
macro_rules! managed_record {
    ($($record:tt)*) => {
        $crate::authorship::authored_record! {
            $($record)*
            /// The owner, if it is managed.
            #[schema(required)]
            pub managed_by: Option<String>,
        }
    };
}

pub(crate) use {authored_record, managed_record};
