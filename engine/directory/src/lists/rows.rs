//! The rows of a table of objects to which a subject has a relation, for SQL: what rows have instead of tuples stays open.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use portcullis_engine::condition::AttributePath;
use portcullis_engine::sql::{MAX_ID_BYTES, ObjectIds, RelatedRows};
use roaring::RoaringBitmap;

use super::bitmaps::Bitmaps;
use crate::graph::Graph;
use crate::schema::{FlatArrow, RelationId, TermId, TypeId};
use crate::subject::GraphSubject;
use crate::table::{EdgeKey, Moment, Node, Object, Way};

/// A substitute for the stored edges of a relation of rows.
#[derive(Clone, Debug)]
pub struct RowHop<'h> {
    /// The relation, which leads to objects.
    pub relation: RelationId,
    /// The objects of a row.
    pub objects: HopObjects<'h>,
    /// The rows whose stored edges go before it.
    pub stored: Vec<&'h str>,
}

/// The objects to which a relation of a row leads.
#[derive(Clone, Debug)]
pub enum HopObjects<'h> {
    /// Those to which an attribute of the row refers.
    Attribute(AttributePath),
    /// These, of every row.
    Known(Vec<Object<'h>>),
}

/// The work and the ids that are left for questions about rows.
#[derive(Clone, Copy, Debug)]
pub struct RowBudget {
    /// The number of edges that are looked at.
    pub edges: usize,
    /// The number of ids.
    pub ids: usize,
    /// The bytes of the ids.
    pub bytes: usize,
}

impl Default for RowBudget {
    fn default() -> Self {
        Self { edges: 300_000, ids: 100_000, bytes: MAX_ID_BYTES }
    }
}

/// There are too many ids or parts, or too many edges to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rows cannot be told apart with so few ids")]
pub struct RowsTooLarge;

/// The maximum number of terms that are looked at. Lines of people have a few.
const MAX_TERMS: usize = 1_000;

/// Makes the filter of one question.
struct RowBuilder<'s> {
    subject: &'s GraphSubject<'s>,
    /// The type of the rows.
    type_id: TypeId,
    hops: &'s [RowHop<'s>],
    facts: Bitmaps,
    /// The terms that are looked at: one of them that is met again adds nothing.
    open: Vec<TermId>,
    /// The number of terms that are left.
    terms: usize,
    budget: &'s mut RowBudget,
}

impl GraphSubject<'_> {
    /// Returns the rows of a table of objects to which the subject has `relation`, where `hops` stand for stored edges.
    ///
    /// # Errors
    /// [`RowsTooLarge`] if that takes more than the budget, or if a check is undetermined because too many edges stand for
    /// the subject.
    pub fn rows(
        &self,
        relation: RelationId,
        hops: &[RowHop<'_>],
        budget: &mut RowBudget,
    ) -> Result<RelatedRows, RowsTooLarge> {
        let facts = self.facts(relation.term(), &mut budget.edges).ok_or(RowsTooLarge)?;
        let mut builder = RowBuilder {
            subject: self,
            type_id: self.graph.schema.type_id_of(relation),
            hops,
            facts,
            open: Vec::new(),
            terms: MAX_TERMS,
            budget,
        };
        builder.term(relation.term())
    }
}

impl Graph {
    /// Returns the ids of the objects of which a stored tuple of `relation`, which stores objects alone, counts at `now`.
    ///
    /// # Errors
    /// [`RowsTooLarge`] if that takes more than the budget.
    pub fn having_stored(
        &self,
        relation: RelationId,
        now: DateTime<Utc>,
        budget: &mut RowBudget,
    ) -> Result<Vec<&str>, RowsTooLarge> {
        let (mut found, mut moment) = (RoaringBitmap::new(), Moment::new(now));
        let key = self.arrow_key(relation).turned();
        for target in self.schema.leads_to(relation).into_iter().flatten() {
            for node in self.table.for_type(target).into_iter().flatten() {
                // An object is looked at, be there an edge or not.
                budget.edges = budget.edges.checked_sub(1).ok_or(RowsTooLarge)?;
                let looked_at = self.table.at(Way::Back, node).each(key.only(), |edges| {
                    budget.edges = budget.edges.checked_sub(edges.len())?;
                    found.extend(edges.nodes(&mut moment));
                    Some(())
                });
                looked_at.ok_or(RowsTooLarge)?;
            }
        }
        let of_type = self.schema.type_of(relation);
        let ids: Vec<&str> = self.table.ids_of_nodes(&found, of_type).collect();
        budget.take(ids.iter().copied())?;
        Ok(ids)
    }
}

impl RowBudget {
    /// Takes the ids out of the budget.
    fn take<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>) -> Result<(), RowsTooLarge> {
        for id in ids {
            self.ids = self.ids.checked_sub(1).ok_or(RowsTooLarge)?;
            self.bytes = self.bytes.checked_sub(id.len()).ok_or(RowsTooLarge)?;
        }
        Ok(())
    }
}

impl RowBuilder<'_> {
    fn term(&mut self, term: TermId) -> Result<RelatedRows, RowsTooLarge> {
        self.terms = self.terms.checked_sub(1).ok_or(RowsTooLarge)?;
        if self.open.contains(&term) {
            return Ok(RelatedRows::none());
        }
        if !self.reads_hops(term) {
            // A copy, because `rows` needs the whole builder.
            return self.rows(&self.facts.get(term).clone());
        }
        self.open.push(term);
        let filter = self.parts(term);
        self.open.pop();
        filter
    }

    fn hop(&self, relation: RelationId) -> Option<&RowHop<'_>> {
        self.hops.iter().find(|hop| hop.relation == relation)
    }

    /// Returns whether a term of a row depends on what stands for stored edges.
    fn reads_hops(&self, term: TermId) -> bool {
        let (mut known, mut open) = (vec![term], vec![term]);
        while let Some(term) = open.pop() {
            let flat = self.subject.graph.schema.flat(term);
            let stored = flat.stored.iter().map(|(relation, _)| relation);
            let mut read = stored.chain(flat.arrows.iter().map(|arrow| &arrow.over));
            if read.any(|relation| self.hop(*relation).is_some()) {
                return true;
            }
            for next in flat.same.iter().chain(&flat.none) {
                if !known.contains(next) {
                    known.push(*next);
                    open.push(*next);
                }
            }
        }
        false
    }

    fn parts(&mut self, term: TermId) -> Result<RelatedRows, RowsTooLarge> {
        let subject = self.subject;
        let flat = subject.graph.schema.flat(term);
        let mut parts = Vec::new();
        for term in &flat.same {
            parts.push(self.term(*term)?);
        }
        if flat.is_all {
            if parts.iter().any(RelatedRows::is_none) {
                return Ok(RelatedRows::none());
            }
            for term in &flat.none {
                parts.push(RelatedRows::Not(Box::new(self.term(*term)?)));
            }
            return Ok(RelatedRows::All(parts));
        }
        // What tuples give is one list.
        let mut stored = RoaringBitmap::new();
        for (relation, _) in &flat.stored {
            let hop = self.hop(*relation);
            // Stored edges count where nothing stands for them, and for the rows in which they go first.
            if hop.is_none_or(|hop| !hop.stored.is_empty()) {
                self.add_stored(*relation, &mut stored);
            }
            if hop.is_some() {
                parts.push(self.own(*relation)?);
            }
        }
        for arrow in &flat.arrows {
            let hop = self.hop(arrow.over);
            if hop.is_none_or(|hop| !hop.stored.is_empty()) {
                self.add_arrow(arrow, &mut stored);
            }
            if hop.is_some() {
                parts.push(self.targets(arrow)?);
            }
        }
        parts.push(self.rows(&stored)?);
        parts.retain(|part| !part.is_none());
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => Ok(RelatedRows::Any(parts)),
        }
    }

    /// Returns the rows of these nodes.
    fn rows(&mut self, nodes: &RoaringBitmap) -> Result<RelatedRows, RowsTooLarge> {
        let ids: Vec<&str> =
            // One more than is left, so that `take` sees the excess.
            self.subject.ids(nodes, self.type_id).take(self.budget.ids + 1).collect();
        self.budget.take(ids.iter().copied())?;
        Ok(if ids.is_empty() { RelatedRows::none() } else { RelatedRows::Ids(shared(ids)) })
    }

    /// Returns the rows that a relation leads to the subject itself.
    fn own(&mut self, relation: RelationId) -> Result<RelatedRows, RowsTooLarge> {
        let subject = self.subject;
        let Some(closure) = &subject.closure else { return Ok(RelatedRows::none()) };
        let object_type = subject.graph.schema.type_name(closure.key.subject_type);
        self.leading_to(relation, vec![Object { object_type, id: &closure.key.id }])
    }

    /// Returns the rows that a relation leads to an object for which the target of the arrow holds.
    fn targets(&mut self, arrow: &FlatArrow) -> Result<RelatedRows, RowsTooLarge> {
        let (subject, mut objects) = (self.subject, Vec::new());
        for (type_id, term) in &arrow.targets {
            let object_type = subject.graph.schema.type_name(*type_id);
            let ids = subject.ids(self.facts.get(*term), *type_id);
            let ids = ids.take(self.budget.ids + 1);
            objects.extend(ids.map(|id| Object { object_type, id }));
        }
        self.leading_to(arrow.over, objects)
    }

    /// Returns the rows that a relation, for whose stored edges something stands, leads to one of these objects.
    fn leading_to(
        &mut self,
        relation: RelationId,
        objects: Vec<Object<'_>>,
    ) -> Result<RelatedRows, RowsTooLarge> {
        let Some(hop) = self.hops.iter().find(|hop| hop.relation == relation) else {
            return Ok(RelatedRows::none());
        };
        let rows = match &hop.objects {
            HopObjects::Known(known) if objects.iter().any(|one| known.contains(one)) => {
                // A conjunction without parts: every row.
                RelatedRows::All(Vec::new())
            }
            HopObjects::Attribute(attribute) if !objects.is_empty() => {
                self.budget.take(objects.iter().map(|one| one.id))?;
                RelatedRows::Referring { attribute: attribute.clone(), objects: by_type(objects) }
            }
            HopObjects::Known(_) | HopObjects::Attribute(_) => return Ok(RelatedRows::none()),
        };
        if hop.stored.is_empty() {
            return Ok(rows);
        }
        self.budget.take(hop.stored.iter().copied())?;
        // In these rows stored edges go first, so the attribute does not count.
        let stored = RelatedRows::Ids(shared(hop.stored.iter().copied()));
        Ok(RelatedRows::All(vec![RelatedRows::Not(Box::new(stored)), rows]))
    }

    /// Adds the nodes to which tuples and claims give a relation.
    fn add_stored(&self, relation: RelationId, nodes: &mut RoaringBitmap) {
        let (graph, Some(closure)) = (self.subject.graph, &self.subject.closure) else { return };
        let number = graph.schema.number(relation);
        for (subject_relation, members) in closure.all_members() {
            let key = EdgeKey::new(number, subject_relation).turned();
            members.iter().for_each(|member| self.add_back(*member, key, nodes));
        }
        let claimed = closure.claimed.iter().filter(|(_, own)| *own == relation);
        nodes.extend(claimed.map(|(node, _)| *node));
    }

    /// Adds the nodes whose tuples lead to an object for which the target of the arrow holds.
    fn add_arrow(&self, arrow: &FlatArrow, nodes: &mut RoaringBitmap) {
        let key = EdgeKey::new(arrow.number, None).turned();
        for (_, term) in &arrow.targets {
            self.facts.get(*term).iter().for_each(|parent| self.add_back(parent, key, nodes));
        }
    }

    fn add_back(&self, node: Node, key: EdgeKey, nodes: &mut RoaringBitmap) {
        let mut moment = Moment::new(self.subject.now);
        self.subject.graph.table.at(Way::Back, node).each(key.only(), |edges| {
            nodes.extend(edges.nodes(&mut moment));
            Some(())
        });
    }
}

fn by_type(objects: Vec<Object<'_>>) -> Vec<(Box<str>, ObjectIds)> {
    let mut by_type: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Object { object_type, id } in objects {
        by_type.entry(object_type).or_default().push(id);
    }
    by_type.into_iter().map(|(object_type, ids)| (object_type.into(), shared(ids))).collect()
}

fn shared<'i>(ids: impl IntoIterator<Item = &'i str>) -> ObjectIds {
    ids.into_iter().map(Into::into).collect()
}
