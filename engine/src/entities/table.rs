//! The table: a large base, and a small overlay of what changed since.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::vec;

use super::builder::{EntityInput, EntityTableBuilder, TableFull};
use super::entity::Entity;
use super::postings::{Row, RowSet};
use super::segment::Segment;

/// The entities of one tenant. Cheap to clone.
#[derive(Clone, Default)]
pub struct EntityTable {
    base: Arc<Segment>,
    /// Changed entities, and marks of removed ones.
    overlay: Arc<Segment>,
}

impl EntityTableBuilder {
    /// Makes the table.
    ///
    /// # Errors
    /// [`TableFull`] if it has too many entities.
    pub fn finish(self) -> Result<EntityTable, TableFull> {
        Ok(EntityTable { base: Arc::new(self.segment()?), overlay: Arc::default() })
    }
}

/// A change of one entity.
#[derive(Clone, Copy, Debug)]
pub enum EntityChange<'e> {
    /// Adds the entity, or replaces it as a whole.
    Put(EntityInput<'e>),
    /// Removes the entity, if there is one.
    Remove {
        /// The type.
        entity_type: &'e str,
        /// The id.
        id: &'e str,
    },
}

/// An overlay of at most this many entities is small beside any base.
const SMALL_OVERLAY: usize = 1024;
/// An overlay is large from this share of the base on: folding then costs each change about as much as applying it.
const LARGE_SHARE: usize = 64;

impl EntityTable {
    /// Returns a builder of a table.
    pub fn builder() -> EntityTableBuilder {
        EntityTableBuilder::default()
    }

    pub(super) fn base(&self) -> &Segment {
        &self.base
    }

    /// Returns an entity.
    pub fn get(&self, entity_type: &str, id: &str) -> Option<Entity<'_>> {
        // The overlay first: its entity replaces the one of the base, and its mark hides one that is removed.
        let in_overlay = self.overlay.find(entity_type, id).map(|row| (&self.overlay, row));
        let (segment, row) =
            in_overlay.or_else(|| Some((&self.base, self.base.find(entity_type, id)?)))?;
        (!segment.is_removed(row)).then_some(Entity { segment, row })
    }

    /// Returns the ids of the entities of a type that changed since the base was made; `None` if they are more than `most`.
    pub(super) fn changed_ids(&self, entity_type: &str, most: usize) -> Option<Vec<&str>> {
        let rows = self.overlay.for_type(entity_type);
        (rows.len() <= most).then(|| rows.map(|row| self.overlay.id(row)).collect())
    }

    /// Returns the entities of a type in the order of their ids, from the one after `after` on.
    pub fn for_type<'t>(&'t self, entity_type: &str, after: Option<&str>) -> Entities<'t> {
        Entities {
            table: self,
            base: Rows::All(self.base.after(entity_type, after)),
            overlay: self.overlay.after(entity_type, after),
        }
    }

    /// Returns whether there are entities of a type.
    pub fn has_type(&self, entity_type: &str) -> bool {
        self.for_type(entity_type, None).next().is_some()
    }

    /// Returns the entities of a type as [`EntityTable::for_type`] does, but of the base only these rows.
    pub(crate) fn for_rows<'t>(
        &'t self,
        entity_type: &str,
        after: Option<&str>,
        rows: &RowSet,
    ) -> Entities<'t> {
        let range = self.base.after(entity_type, after);
        let rows: Vec<Row> = rows.iter().filter(|row| range.contains(row)).collect();
        Entities {
            table: self,
            base: Rows::Some(rows.into_iter()),
            overlay: self.overlay.after(entity_type, after),
        }
    }

    /// Returns every type that has entities, or had some before they were removed.
    pub fn types(&self) -> Vec<&str> {
        let segments = [&self.base, &self.overlay].into_iter();
        let names = segments
            .flat_map(|segment| segment.types.iter().map(|rows| segment.pool.texts.get(rows.name)));
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the table after changes, the last of which counts where several name one entity. Takes time for each
    /// entity of the overlay.
    ///
    /// # Errors
    /// [`TableFull`] if the table cannot hold them.
    pub fn changed<'e>(
        &self,
        changes: impl IntoIterator<Item = EntityChange<'e>>,
    ) -> Result<Self, TableFull> {
        let mut builder = EntityTableBuilder::default();
        // Earlier changes first, because the last one of an entity counts.
        for row in 0..row_count(&self.overlay) {
            let entity = Entity { segment: &self.overlay, row };
            match self.overlay.is_removed(row) {
                true => builder.push_removed(entity.entity_type(), entity.id())?,
                false => builder.push_entity(entity)?,
            }
        }
        for change in changes {
            match change {
                EntityChange::Put(entity) => builder.push(&entity)?,
                EntityChange::Remove { entity_type, id } => {
                    builder.push_removed(entity_type, id)?
                }
            }
        }
        Ok(Self { base: Arc::clone(&self.base), overlay: Arc::new(builder.segment()?) })
    }

    /// Returns whether the overlay is so large that the table should be folded.
    pub fn should_fold(&self) -> bool {
        self.overlay.rows.len() > SMALL_OVERLAY + self.base.rows.len() / LARGE_SHARE
    }

    /// Returns a table of the same entities and indexes without an overlay. Takes time for each entity.
    ///
    /// # Errors
    /// [`TableFull`] if one base cannot hold them.
    pub fn folded(&self) -> Result<Self, TableFull> {
        let mut builder = Self::builder();
        for entity_type in self.types() {
            for entity in self.for_type(entity_type, None) {
                builder.push_entity(entity)?;
            }
        }
        let folded = builder.finish()?;
        folded.index_as(self);
        Ok(folded)
    }

    /// Returns the bytes that the table occupies. Tables that share a base each count it.
    pub fn weight(&self) -> usize {
        2 * size_of::<Segment>() + self.base.weight() + self.overlay.weight()
    }
}

impl fmt::Debug for EntityTable {
    /// Writes the sizes: a table may have a million entities.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntityTable")
            .field("base", &self.base.rows.len())
            .field("overlay", &self.overlay.rows.len())
            .finish()
    }
}

fn row_count(segment: &Segment) -> Row {
    // A segment with more rows is not built.
    u32::try_from(segment.rows.len()).unwrap_or(u32::MAX)
}

/// The entities of one type in the order of their ids.
#[derive(Clone)]
pub struct Entities<'t> {
    table: &'t EntityTable,
    base: Rows,
    overlay: Range<Row>,
}

/// Rows of a base, in ascending order.
#[derive(Clone)]
enum Rows {
    All(Range<Row>),
    Some(vec::IntoIter<Row>),
}

impl Rows {
    fn first(&self) -> Option<Row> {
        match self {
            Self::All(rows) => rows.clone().next(),
            Self::Some(rows) => rows.as_slice().first().copied(),
        }
    }

    fn next(&mut self) -> Option<Row> {
        match self {
            Self::All(rows) => rows.next(),
            Self::Some(rows) => rows.next(),
        }
    }
}

impl<'t> Entities<'t> {
    /// Takes the next row of either segment, and its segment. An entity of the overlay replaces the one of the base.
    fn next_row(&mut self) -> Option<(&'t Segment, Row)> {
        let (base, overlay) = (&*self.table.base, &*self.table.overlay);
        let order = match (self.base.first(), self.overlay.clone().next()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(row), Some(other)) => base.id(row).cmp(overlay.id(other)),
        };
        if order.is_eq() {
            self.base.next();
        }
        if order.is_lt() {
            Some((base, self.base.next()?))
        } else {
            Some((overlay, self.overlay.next()?))
        }
    }
}

impl<'t> Iterator for Entities<'t> {
    type Item = Entity<'t>;

    fn next(&mut self) -> Option<Entity<'t>> {
        loop {
            let (segment, row) = self.next_row()?;
            if !segment.is_removed(row) {
                return Some(Entity { segment, row });
            }
        }
    }
}
