//! The graph of a tenant: its tuples with its types.

use std::sync::Arc;

use chrono::DateTime;
use portcullis_directory::{
    Graph, Object, RelationDefinition, RelationId, RelationNumber, Schema, Tuple, TupleTable,
    TypeRelations,
};
use portcullis_engine::Invalid;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::relation::NewTuple;
use portcullis_model::types::NewType;
use portcullis_storage::StoreError;
use portcullis_storage::types::NumberedRelations;

/// The memory for closures of subjects of a tenant folder, in bytes.
const FOLDER_CLOSURE_BYTES: usize = 16 << 20;

/// The tuples of a tenant, with its types of one revision.
#[derive(Debug)]
pub struct TenantGraph {
    /// The description of the types.
    declared: Arc<str>,
    pub graph: Graph,
    sources: Arc<RelationSources>,
}

/// The relations that take edges from other places than the tuples.
#[derive(Debug, Default)]
struct RelationSources {
    claims: Vec<(RelationId, Box<str>)>,
    requests: Vec<(RelationId, Box<str>)>,
}

impl TenantGraph {
    /// Compiles the types. Closures of subjects take at most `max_closure_bytes`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]: types that do not compile are not stored.
    pub(super) fn compile(
        declared: &Arc<str>,
        tuples: TupleTable,
        max_closure_bytes: usize,
    ) -> Result<Self, StoreError> {
        let types = NumberedRelations::read_all(declared)?;
        let types: Vec<TypeRelations<'_>> = types
            .iter()
            .map(|one| TypeRelations { name: &one.kind, relations: &one.relations })
            .collect();
        let corrupt = |_| StoreError::Corrupt { what: "types.relations" };
        let schema = Arc::new(Schema::compile(&types).map_err(corrupt)?);
        let sources = Arc::new(RelationSources::new(&schema));
        let graph = Graph::new(schema, tuples, max_closure_bytes);
        Ok(Self { declared: Arc::clone(declared), graph, sources })
    }

    /// Makes the graph of a tenant folder.
    ///
    /// # Errors
    /// Types that do not compile, or tuples that they do not allow, each at its index.
    pub fn from_folder(types: &[NewType], tuples: &[NewTuple]) -> Result<Self, Invalid> {
        let mut numbers = (0..).map(RelationNumber);
        let relations: Vec<Vec<(RelationNumber, RelationDefinition)>> = types
            .iter()
            .map(|one| {
                numbers.by_ref().zip(one.relations.values().map(|one| one.0.clone())).collect()
            })
            .collect();
        let types = types.iter().zip(&relations);
        let types: Vec<TypeRelations<'_>> =
            types.map(|(one, relations)| TypeRelations { name: &one.kind, relations }).collect();
        let schema = Arc::new(Schema::compile(&types)?);
        let (mut problems, root) = (Problems::default(), Place::root());
        let mut builder = TupleTable::builder();
        for (index, tuple) in tuples.iter().enumerate() {
            match numbered(&schema, tuple) {
                Some(tuple) => {
                    if builder.push(tuple).is_err() {
                        problems.expected(&root, "fewer tuples");
                    }
                }
                None => problems.expected(
                    &root.index(index),
                    format!(
                        "a tuple whose subject stands in the `[…]` of `{}` of `{}`",
                        tuple.relation, tuple.object.kind
                    ),
                ),
            }
        }
        problems.finish(Some(()))?;
        let sources = Arc::new(RelationSources::new(&schema));
        let graph = Graph::new(schema, builder.finish(), FOLDER_CLOSURE_BYTES);
        Ok(Self { declared: "".into(), graph, sources })
    }

    /// Returns the graph of other tuples with the same types.
    pub(super) fn with_tuples(&self, tuples: TupleTable, max_closure_bytes: usize) -> Self {
        let schema = Arc::clone(self.graph.schema());
        Self {
            declared: Arc::clone(&self.declared),
            graph: Graph::new(schema, tuples, max_closure_bytes),
            sources: Arc::clone(&self.sources),
        }
    }

    /// Returns whether the types are those that `declared` describes.
    pub(super) fn is_of(&self, declared: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.declared, declared) || self.declared == *declared
    }

    /// Returns the bytes of the types and of the closures that are kept.
    pub(super) fn weight(&self) -> usize {
        self.graph.schema().weight() + self.graph.closure_bytes()
    }

    /// Returns each relation that a claim of the caller's token gives, with the claim.
    pub fn claims(&self) -> impl Iterator<Item = (RelationId, &str)> {
        self.sources.claims.iter().map(|(relation, claim)| (*relation, &**claim))
    }

    /// Returns each relation whose tuples an attribute of the resource stands for, with the attribute.
    pub fn requests(&self) -> impl Iterator<Item = (RelationId, &str)> {
        self.sources.requests.iter().map(|(relation, attribute)| (*relation, &**attribute))
    }
}

impl RelationSources {
    fn new(schema: &Schema) -> Self {
        let mut sources = Self::default();
        for relation in schema.relations() {
            sources.claims.extend(schema.claim(relation).map(|name| (relation, name.into())));
            sources.requests.extend(schema.request(relation).map(|name| (relation, name.into())));
        }
        sources
    }
}

/// Returns a tuple as the table has it; `None` if the types do not allow it.
fn numbered<'t>(schema: &Schema, tuple: &'t NewTuple) -> Option<Tuple<'t>> {
    let object = Object { object_type: &tuple.object.kind, id: &tuple.object.id };
    let subject = Object { object_type: &tuple.subject.kind, id: &tuple.subject.id };
    let relation = schema.relation(object.object_type, &tuple.relation)?;
    let related = match &tuple.subject_relation {
        Some(name) => Some(schema.relation(subject.object_type, name)?),
        None => None,
    };
    let is_allowed = schema.admits(relation, (subject.object_type, subject.id), related);
    is_allowed.then(|| Tuple {
        object,
        relation: schema.number(relation),
        subject,
        subject_relation: related.map(|related| schema.number(related)),
        expires_at: tuple.expires_at.and_then(|at| DateTime::from_timestamp_millis(at.millis())),
    })
}
