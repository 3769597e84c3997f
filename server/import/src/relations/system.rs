//! The systems whose models and tuples are imported, and their words.

/// A system that stores relations as tuples.
#[derive(Debug)]
pub(crate) struct System {
    /// The name of the import: the owner of what is imported, and the tenant of a folder whose files name none.
    pub(crate) name: &'static str,
    /// The word for the types with their relations.
    pub(crate) model: &'static str,
    /// The word for a tuple.
    pub(crate) tuple: &'static str,
    /// The word for the questions with expected answers.
    pub(crate) tests: &'static str,
    /// The operator that takes subjects away.
    pub(crate) except: &'static str,
    /// An example of a condition that is an expiry.
    pub(crate) expiry: &'static str,
    /// The fault of users whom the relation of a tuple cannot have, before the word `of`.
    pub(crate) unlisted: &'static str,
}

pub(crate) static OPENFGA: System = System {
    name: "openfga",
    model: "model",
    tuple: "tuple",
    tests: "tests",
    except: "but not",
    expiry: "current_time < grant_time + grant_duration",
    unlisted: "is not listed in the `[…]`",
};

pub(crate) static SPICEDB: System = System {
    name: "spicedb",
    model: "schema",
    tuple: "relationship",
    tests: "assertions",
    except: "-",
    expiry: "now < end",
    unlisted: "is not one of the types",
};
