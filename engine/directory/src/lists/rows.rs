//! The rows of a table of objects to which a subject has a relation, for SQL: relations of columns stay open.

use roaring::RoaringBitmap;

use super::bitmaps::Bitmaps;
use crate::schema::{FlatArrow, RelationId, TermId, TypeId};
use crate::subject::GraphSubject;
use crate::table::{EdgeKey, Moment, Node, Object, Way};

/// The rows to which a subject has a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowFilter<'s> {
    /// Rows whose id is one of these.
    Ids(Vec<&'s str>),
    /// Rows whose column of a relation names one of these objects.
    Column {
        /// The relation.
        relation: RelationId,
        /// The objects, by type and id.
        objects: Vec<Object<'s>>,
    },
    /// Rows of one of these filters; none if there is no filter.
    Any(Vec<RowFilter<'s>>),
    /// Rows of all of these filters.
    All(Vec<RowFilter<'s>>),
    /// All other rows.
    Not(Box<RowFilter<'s>>),
}

/// The filter has too many ids or parts, or takes a look at too many edges.
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
    columns: &'s [RelationId],
    facts: Bitmaps,
    /// The terms that are looked at: one of them that is met again adds nothing.
    open: Vec<TermId>,
    /// The terms and ids that are left.
    terms: usize,
    ids: usize,
}

impl GraphSubject<'_> {
    /// Returns the rows of a table of objects to which the subject has `relation`. `columns` are the relations of these
    /// objects that a column of the row has instead of tuples.
    ///
    /// # Errors
    /// [`RowsTooLarge`] if there are more than `max_ids` ids, or if [`GraphSubject::objects`] gives no list with `max_edges`.
    pub fn rows<'s>(
        &'s self,
        relation: RelationId,
        columns: &'s [RelationId],
        (max_edges, max_ids): (usize, usize),
    ) -> Result<RowFilter<'s>, RowsTooLarge> {
        let facts = self.facts(relation.term(), max_edges).ok_or(RowsTooLarge)?;
        let mut builder = RowBuilder {
            subject: self,
            type_id: self.graph.schema.type_id_of(relation),
            columns,
            facts,
            open: Vec::new(),
            terms: MAX_TERMS,
            ids: max_ids,
        };
        builder.term(relation.term())
    }
}

impl<'s> RowBuilder<'s> {
    fn term(&mut self, term: TermId) -> Result<RowFilter<'s>, RowsTooLarge> {
        self.terms = self.terms.checked_sub(1).ok_or(RowsTooLarge)?;
        if self.open.contains(&term) {
            return Ok(RowFilter::none());
        }
        if !self.reads_columns(term) {
            return self.rows(self.facts.get(term).clone());
        }
        self.open.push(term);
        let filter = self.parts(term);
        self.open.pop();
        filter
    }

    /// Returns whether a term of a row depends on a column of the row.
    fn reads_columns(&self, term: TermId) -> bool {
        let (mut known, mut open) = (vec![term], vec![term]);
        while let Some(term) = open.pop() {
            let flat = self.subject.graph.schema.flat(term);
            let stored = flat.stored.iter().map(|(relation, _)| relation);
            let mut read = stored.chain(flat.arrows.iter().map(|arrow| &arrow.over));
            if read.any(|relation| self.columns.contains(relation)) {
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

    fn parts(&mut self, term: TermId) -> Result<RowFilter<'s>, RowsTooLarge> {
        let flat = self.subject.graph.schema.flat(term);
        let mut parts = Vec::new();
        for term in &flat.same {
            parts.push(self.term(*term)?);
        }
        if flat.is_all {
            if parts.iter().any(RowFilter::is_none) {
                return Ok(RowFilter::none());
            }
            for term in &flat.none {
                parts.push(RowFilter::Not(Box::new(self.term(*term)?)));
            }
            return Ok(RowFilter::All(parts));
        }
        // What no column has is one list.
        let mut stored = RoaringBitmap::new();
        for (relation, _) in &flat.stored {
            match self.columns.contains(relation) {
                true => parts.push(self.own(*relation)?),
                false => self.add_stored(*relation, &mut stored),
            }
        }
        for arrow in &flat.arrows {
            match self.columns.contains(&arrow.over) {
                true => parts.push(self.column(arrow)?),
                false => self.add_arrow(arrow, &mut stored),
            }
        }
        parts.push(self.rows(stored)?);
        parts.retain(|part| !part.is_none());
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => Ok(RowFilter::Any(parts)),
        }
    }

    /// Returns the rows of these nodes.
    fn rows(&mut self, nodes: RoaringBitmap) -> Result<RowFilter<'s>, RowsTooLarge> {
        let ids = self.subject.ids(&nodes, self.type_id, None);
        let ids: Vec<&'s str> = ids.take(self.ids + 1).collect();
        self.ids = self.ids.checked_sub(ids.len()).ok_or(RowsTooLarge)?;
        Ok(if ids.is_empty() { RowFilter::none() } else { RowFilter::Ids(ids) })
    }

    /// Returns the rows whose column of a relation names the subject itself.
    fn own(&mut self, relation: RelationId) -> Result<RowFilter<'s>, RowsTooLarge> {
        let Some(closure) = &self.subject.closure else { return Ok(RowFilter::none()) };
        self.ids = self.ids.checked_sub(1).ok_or(RowsTooLarge)?;
        let object_type = self.subject.graph.schema.type_name(closure.key.subject_type);
        let objects = vec![Object { object_type, id: &closure.key.id }];
        Ok(RowFilter::Column { relation, objects })
    }

    /// Returns the rows whose column of a relation names an object for which the target of the arrow holds.
    fn column(&mut self, arrow: &FlatArrow) -> Result<RowFilter<'s>, RowsTooLarge> {
        let mut objects = Vec::new();
        for (type_id, term) in &arrow.targets {
            let object_type = self.subject.graph.schema.type_name(*type_id);
            let ids = self.subject.ids(self.facts.get(*term), *type_id, None);
            objects.extend(ids.take(self.ids + 1).map(|id| Object { object_type, id }));
            self.ids = self.ids.checked_sub(objects.len()).ok_or(RowsTooLarge)?;
        }
        match objects.is_empty() {
            true => Ok(RowFilter::none()),
            false => Ok(RowFilter::Column { relation: arrow.over, objects }),
        }
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

impl RowFilter<'_> {
    fn none() -> Self {
        Self::Any(Vec::new())
    }

    fn is_none(&self) -> bool {
        matches!(self, Self::Any(parts) if parts.is_empty())
    }
}
