//! Authorship of records, and the members by which records show it.

use crate::timestamp::Timestamp;

/// The author of a change, and its instant.
#[derive(Clone, Debug)]
pub struct Authorship {
    /// A token's `sub`.
    pub actor: String,
    pub at: Timestamp,
}

/// A record that says when it was changed last, and most say by whom.
pub trait SignedRecord: Sized {
    /// Returns the record as `by` changed it.
    #[must_use]
    fn signed(self, by: &Authorship) -> Self;

    /// Returns the record as one that nobody has changed.
    #[must_use]
    fn unsigned(self) -> Self;
}

/// Makes a record a [`SignedRecord`] whose `updated_at`, and mostly `updated_by`, say it.
macro_rules! signed_record {
    ($record:ident { updated_at $(, $updated_by:ident)? }) => {
        impl $crate::SignedRecord for $record {
            fn signed(self, by: &$crate::Authorship) -> Self {
                Self { updated_at: Some(by.at), $($updated_by: Some(by.actor.clone()),)? ..self }
            }

            fn unsigned(self) -> Self {
                Self { updated_at: None, $($updated_by: None,)? ..self }
            }
        }
    };
}

/// Declares a [`SignedRecord`] with the members that say who made it and who changed it last. They follow its own, and `$more`
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

        $crate::authorship::signed_record!($name { updated_at, updated_by });
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

pub(crate) use {authored_record, managed_record, signed_record};
