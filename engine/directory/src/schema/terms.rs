//! Terms: the parts of lines with every name resolved. A term holds or not for one object and one subject.

/// The number by which rows and tuples name a relation. A tenant gives each of its relations another one, and a rename keeps
/// it. `u16::MAX` is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelationNumber(pub u16);

/// A relation of one type of a [`Schema`](super::Schema).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelationId(pub(crate) u32);

impl RelationId {
    /// Returns the term of the whole line: the terms of the relations come first.
    pub(crate) fn term(self) -> TermId {
        self.0
    }
}

/// The number of a term.
pub(crate) type TermId = u32;
/// The number of a type, in the order of names.
pub(crate) type TypeId = u16;

/// A term of one type.
#[derive(Debug)]
pub(crate) struct Term {
    /// The relation whose line has the term.
    pub(crate) relation: RelationId,
    /// The text of a factor that is not the name of a relation.
    pub(crate) text: Option<Box<str>>,
    pub(crate) kind: TermKind,
}

/// The form of a term.
#[derive(Debug)]
pub(crate) enum TermKind {
    /// Holds if one of these holds.
    Any {
        /// Whether the tuples of the relation count.
        is_stored: bool,
        /// Terms of the same object.
        same: Box<[TermId]>,
        arrows: Box<[Arrow]>,
    },
    /// Holds if all of the first terms hold for the same object, and none of the second ones.
    All { all: Box<[TermId]>, none: Box<[TermId]> },
}

/// Terms of the objects that a relation leads to.
#[derive(Debug)]
pub(crate) struct Arrow {
    /// The relation, which stores objects alone.
    pub(crate) over: RelationId,
    /// The term of the objects of each type. Objects of other types have none.
    pub(crate) targets: Box<[(TypeId, TermId)]>,
}

/// Subjects that a relation can store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Storable {
    pub(crate) subject_type: TypeId,
    pub(crate) which: StorableSubjects,
}

/// The subjects that one tuple names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorableSubjects {
    One,
    Related(RelationId),
    Everyone,
}

impl StorableSubjects {
    /// Returns whether a tuple names all who have a relation, and nobody of itself.
    pub(crate) fn is_userset(self) -> bool {
        matches!(self, Self::Related(_))
    }
}

impl Term {
    /// Calls `visit` with each term that this one depends on, and whether the dependency is positive. `stored` are the
    /// subjects that the relation can store.
    pub(crate) fn each_dependency(&self, stored: &[Storable], mut visit: impl FnMut(TermId, bool)) {
        match &self.kind {
            TermKind::Any { is_stored, same, arrows } => {
                same.iter().for_each(|term| visit(*term, true));
                let targets = arrows.iter().flat_map(|arrow| &arrow.targets);
                targets.for_each(|(_, term)| visit(*term, true));
                for storable in stored.iter().filter(|_| *is_stored) {
                    if let StorableSubjects::Related(relation) = storable.which {
                        visit(relation.term(), true);
                    }
                }
            }
            TermKind::All { all, none } => {
                all.iter().for_each(|term| visit(*term, true));
                none.iter().for_each(|term| visit(*term, false));
            }
        }
    }
}
