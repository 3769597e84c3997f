//! Relations of plans of rows: ids and references for SQL in place of one answer (`docs/semantics.md`, section 14.4).

use portcullis_engine::condition::AttributePath;
use portcullis_engine::filter::RowAttributes;
use portcullis_engine::relation::{RELATION, RelationTarget};
use portcullis_engine::sql::{Columns, RelatedRows, RowReference, RowRelation, RowRelations};
use portcullis_engine::{AttributeAnswer, AttributeAnswers, Check, Precedence, TenantFacts};

use super::{RelationQuestions, ask, no_reference, objects, resource_of, unknown_claim};
use crate::graph::Graph;
use crate::lists::{HopObjects, RowBudget, RowHop, RowsTooLarge};
use crate::schema::Schema;
use crate::subject::GraphSubject;
use crate::work::RelationWork;

/// The rows of a plan.
#[derive(Clone, Copy, Debug)]
pub struct PlannedRows<'q> {
    /// The check as it was sent.
    pub check: &'q Check<'q>,
    /// The attributes that rows supply.
    pub attributes: &'q RowAttributes,
    /// The columns of rows; `None` for a plan without SQL, in which relations to rows stay open.
    pub columns: Option<&'q Columns>,
}

/// The relations of a plan of rows.
#[derive(Debug, Default)]
pub struct RelationsOfRows {
    /// The relations that are the same for each row.
    pub answers: AttributeAnswers,
    /// The others.
    pub of_rows: RowRelations,
    /// The reason why one of these is too large.
    pub too_large: Option<String>,
}

/// The reason why a relation to rows has no exact form.
enum Inexact {
    TooLarge,
    Because(String),
}

impl From<RowsTooLarge> for Inexact {
    fn from(_: RowsTooLarge) -> Self {
        Self::TooLarge
    }
}

impl Graph {
    /// Returns the answers to the attributes `names` of the namespace `relation` for rows.
    pub fn rows(
        &self,
        facts: &TenantFacts,
        rows: PlannedRows<'_>,
        names: &[Box<str>],
    ) -> RelationsOfRows {
        let (mut found, mut work) = (RelationsOfRows::default(), RelationWork::default());
        ask(self, facts, (rows.check, resource_of(rows.check)), |questions, subject, buffer| {
            let mut plan =
                RowPlan { questions, subject, rows, hops: None, budget: RowBudget::default() };
            for name in names {
                let relation = match RelationTarget::parse(name) {
                    RelationTarget::OfResource(relation) if plan.is_of_rows() => relation,
                    RelationTarget::OfResource(_) | RelationTarget::OfObject { .. } => {
                        found.answers.insert(
                            RELATION,
                            name,
                            questions.answer(subject, name, &mut work, buffer),
                        );
                        continue;
                    }
                };
                if rows.columns.is_none() {
                    continue;
                }
                match plan.relation(relation) {
                    Ok(None) => found.answers.insert(RELATION, name, AttributeAnswer::Absent),
                    Ok(Some(relation)) => found.of_rows.insert(name, Ok(relation)),
                    Err(Inexact::Because(reason)) => found.of_rows.insert(name, Err(reason)),
                    Err(Inexact::TooLarge) => {
                        // This budget is spent: a new one has the limits.
                        let RowBudget { edges, ids, .. } = RowBudget::default();
                        let reason = format!(
                            "`{RELATION}.{name}` needs more than {ids} ids, or a look at more than {edges} edges"
                        );
                        found.too_large = Some(reason.clone());
                        found.of_rows.insert(name, Err(reason));
                    }
                }
            }
        });
        found
    }
}

/// The relations of one plan.
struct RowPlan<'q> {
    questions: &'q RelationQuestions<'q>,
    subject: &'q GraphSubject<'q>,
    rows: PlannedRows<'q>,
    /// The substitutes for stored edges, once they were needed.
    hops: Option<Hops<'q>>,
    budget: RowBudget,
}

type Hops<'q> = (Vec<RowHop<'q>>, Vec<RowReference>);

impl<'q> RowPlan<'q> {
    /// Returns whether relations to the resource depend on the row.
    fn is_of_rows(&self) -> bool {
        let schema = self.questions.graph.schema();
        let requests = self.questions.graph.schema.requests();
        let object_type = self.rows.check.resource_type();
        let mut attributes =
            requests.filter(|(relation, _)| schema.type_of(*relation) == object_type);
        self.has("id") || attributes.any(|(_, attribute)| self.column(attribute).is_some())
    }

    /// Returns whether rows supply the attribute `name` of the resource.
    fn has(&self, name: &str) -> bool {
        let PlannedRows { check, attributes, .. } = self.rows;
        let is_sent = check.attributes.resource.get(name).is_some();
        !is_sent && attributes.has(&AttributePath::Resource(name.into()))
    }

    /// Returns the attribute `name` of the resource if a column has it.
    fn column(&self, name: &str) -> Option<AttributePath> {
        let path = AttributePath::Resource(name.into());
        let has_column = self.rows.columns.is_some_and(|columns| columns.has(&path));
        (has_column && self.has(name)).then_some(path)
    }

    /// Returns the relation `name` to rows; `None` if it is absent for each.
    fn relation(&mut self, name: &str) -> Result<Option<RowRelation>, Inexact> {
        if !self.has("id") {
            let what = "rows supply an attribute that stands for relations, but not `resource.id`";
            return Err(Inexact::Because(what.to_owned()));
        }
        if self.column("type").is_some() {
            let what = "`resource.type` is a column: relations belong to one type";
            return Err(Inexact::Because(what.to_owned()));
        }
        let schema = self.questions.graph.schema();
        let object_type = self.rows.check.resource_type();
        if !schema.has_type(object_type) {
            return Ok(None);
        }
        let Some(relation) = schema.relation(object_type, name) else {
            // The type is declared without this relation, so it is known that no row has it.
            return Ok(Some(RowRelation {
                rows: RelatedRows::none(),
                references: Vec::new(),
                doubt: None,
            }));
        };
        let doubt = self
            .subject
            .doubted(relation)
            .map(|claim| format!("`{name}` of rows depends on {}", unknown_claim(schema, claim)));
        if self.subject.has_negated_doubts(relation) {
            return Err(Inexact::Because(doubt.unwrap_or_default()));
        }
        // They are the same for all relations of the plan.
        if self.hops.is_none() {
            self.hops = Some(self.hops(schema, object_type)?);
        }
        let (hops, references) =
            self.hops.as_ref().map_or((&[][..], &[][..]), |(hops, references)| (hops, references));
        let rows = self.subject.rows(relation, hops, &mut self.budget)?;
        Ok(Some(RowRelation { rows, references: references.to_vec(), doubt }))
    }

    /// Returns what stands for stored edges of rows.
    fn hops(&mut self, schema: &'q Schema, object_type: &str) -> Result<Hops<'q>, Inexact> {
        let RelationQuestions { graph, facts, check, .. } = self.questions;
        let (mut hops, mut references) = (Vec::new(), Vec::new());
        for (relation, attribute) in graph.schema.requests() {
            if schema.type_of(relation) != object_type
                || !facts.takes_from_request(check, attribute)
            {
                continue;
            }
            let column = self.column(attribute);
            let objects = match (facts.sent_of_resource(check, attribute), &column) {
                (Some(sent), _) => {
                    let known = objects(schema, relation, sent);
                    let known = known.ok_or_else(|| no_reference(schema, relation, attribute));
                    HopObjects::Known(known.map_err(Inexact::Because)?)
                }
                (None, Some(attribute)) => HopObjects::Attribute(attribute.clone()),
                (None, None) => continue,
            };
            // Where the directory goes first, the objects that have stored edges keep them.
            let stored = match facts.directory {
                Some(Precedence::Directory) => {
                    graph.having_stored(relation, check.now, &mut self.budget)?
                }
                _ => Vec::new(),
            };
            let reference = column.map(|attribute| RowReference {
                attribute,
                types: schema.leads_to(relation).into_iter().flatten().map(Into::into).collect(),
                stored: stored.iter().map(|id| (*id).into()).collect(),
            });
            references.extend(reference);
            hops.push(RowHop { relation, objects, stored });
        }
        Ok((hops, references))
    }
}
