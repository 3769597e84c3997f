//! Relations between subjects and objects: groups in groups, folders in folders, shares.
//!
//! A [`Schema`] says which relations the objects of a type have, and how they follow from each other. A [`TupleTable`] has
//! what is stored. `engine/directory/README.md` says how checks and lists work.

#![forbid(unsafe_code)]

mod check;
mod claim;
mod claim_source;
mod closure;
mod closures;
mod combined;
mod definition;
mod derivation;
mod explain;
mod graph;
mod instances;
mod line;
mod lists;
mod max_work;
mod questions;
mod resource;
mod schema;
mod searched;
mod subject;
mod table;
mod walk;
mod work;

pub use claim::{ClaimDoubt, UnknownClaim};
pub use claim_source::{AbsentClaim, ClaimSource};
pub use closures::ClaimedObjects;
pub use combined::GraphBuffer;
pub use definition::{MAX_RELATIONS, RelationDefinition, read_relations};
pub use explain::{Branch, EdgeOrigin, LookedAt, PathEdge, RelationExplanation};
pub use graph::Graph;
pub use line::{Line, MAX_LINE};
pub use lists::{
    Candidate, HopObjects, KnownCandidates, ObjectList, RowBudget, RowHop, RowsTooLarge,
    SubjectList, SubjectQuestion,
};
pub use max_work::MAX_EDGES;
pub use questions::{PlannedRows, RelationsOfRows, resource_of};
pub use resource::FirstHop;
pub use schema::{MAX_TYPES, RelationId, RelationNumber, Schema, TypeRelations};
pub use searched::{AskedCandidate, RelatedCandidates, SearchRelations};
pub use subject::{GraphSubject, SubjectClaims, UndeterminedRelation};
pub use table::{Object, Tuple, TupleChange, TupleTable, TupleTableBuilder, TuplesFull};
pub use work::{MAX_EDGES_OF_CHECK, RelationWork};
