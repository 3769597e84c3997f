//! Derives what holds for a subject: from its tuples along their way back, to the objects and the terms that follow.

use crate::graph::Graph;
use crate::max_work::MaxWork;
use crate::schema::{RelationId, RelationNumber, Term, TermId, TermKind, TermUse};
use crate::table::{EdgeKey, Moment, Node, Way};

/// The facts that were derived.
pub(crate) trait Facts {
    /// Adds a fact. Returns whether it is new.
    fn insert(&mut self, term: TermId, node: Node) -> bool;
    /// Returns whether the fact was derived.
    fn has(&self, term: TermId, node: Node) -> bool;
}

/// The most facts whose memory is kept for the next derivation.
const KEPT: usize = 4_096;

/// The memory of a derivation, which the next one uses again.
#[derive(Debug, Default)]
pub(crate) struct DerivationBuffer {
    /// The facts that may hold and are to be looked at, by level.
    open: Vec<Vec<(TermId, Node)>>,
    /// The open facts of one level while they are looked at.
    layer: Vec<(TermId, Node)>,
    /// The usersets of tuples that the subject is in.
    pub(crate) usersets: Vec<(RelationNumber, Node)>,
}

impl DerivationBuffer {
    fn clear(&mut self, levels: usize) {
        if self.is_large() {
            *self = Self::default();
        }
        self.open.iter_mut().for_each(Vec::clear);
        self.layer.clear();
        self.open.resize(levels, Vec::new());
        self.usersets.clear();
    }

    /// Returns whether its memory is more than is kept.
    fn is_large(&self) -> bool {
        let mut facts = self.open.iter().chain(std::iter::once(&self.layer));
        self.usersets.capacity() > KEPT || facts.any(|facts| facts.capacity() > KEPT)
    }
}

/// The facts that may hold and are to be looked at.
struct Open<'g> {
    graph: &'g Graph,
    /// The terms that matter.
    relevant: &'g [bool],
    by_level: &'g mut [Vec<(TermId, Node)>],
}

impl Open<'_> {
    fn is_relevant(&self, term: TermId) -> bool {
        self.relevant[term as usize]
    }

    fn push(&mut self, term: TermId, node: Node) {
        self.by_level[self.graph.schema.level(term) as usize].push((term, node));
    }
}

/// Derives facts for one subject.
pub(crate) struct Derivation<'g, F> {
    graph: &'g Graph,
    open: Open<'g>,
    layer: &'g mut Vec<(TermId, Node)>,
    facts: &'g mut F,
    usersets: &'g mut Vec<(RelationNumber, Node)>,
    /// Whether what stands behind a `!` counts.
    pub(crate) has_negations: bool,
    pub(crate) moment: Moment,
    /// The work that is left.
    pub(crate) left: MaxWork,
}

impl<'g, F: Facts> Derivation<'g, F> {
    pub(crate) fn new(
        graph: &'g Graph,
        relevant: &'g [bool],
        facts: &'g mut F,
        buffer: &'g mut DerivationBuffer,
        (moment, max): (Moment, MaxWork),
    ) -> Self {
        buffer.clear(graph.schema.levels() as usize);
        let open = Open { graph, relevant, by_level: &mut buffer.open };
        let (layer, usersets) = (&mut buffer.layer, &mut buffer.usersets);
        Self { graph, open, layer, facts, usersets, has_negations: true, moment, left: max }
    }

    /// Derives everything for a subject that these nodes stand for, and that is a member of claimed objects. `None` if it is
    /// too much work.
    pub(crate) fn derive(&mut self, own: &[Node], claimed: &[(Node, RelationId)]) -> Option<()> {
        for node in own {
            self.stored(*node, None)?;
        }
        for (object, relation) in claimed {
            self.claim(*relation, *object);
        }
        self.run()
    }

    /// Starts with an object of which the subject is a member.
    fn claim(&mut self, relation: RelationId, object: Node) {
        let term = self.graph.schema.stored_term(relation);
        if let Some(term) = term.filter(|term| self.open.is_relevant(*term)) {
            self.open.push(term, object);
        }
    }

    /// Starts with what tuples give to a subject itself, or to all who have a relation to it. Returns whether there are
    /// such tuples; `None` if they are too many.
    fn stored(&mut self, subject: Node, relation: Option<RelationNumber>) -> Option<bool> {
        let (schema, table) = (&self.graph.schema, &self.graph.table);
        let mut found = false;
        table.at(Way::Back, subject).each(EdgeKey::for_subject(relation), |edges| {
            // Also if the term does not matter here: the subject is in the userset all the same.
            found = true;
            let given = schema.by_number(edges.key.turned().relation());
            let term = given.and_then(|relation| schema.stored_term(relation));
            if let Some(term) = term.filter(|term| self.open.is_relevant(*term)) {
                self.left.edges = self.left.edges.checked_sub(edges.len())?;
                edges.nodes(&mut self.moment).for_each(|object| self.open.push(term, object));
            }
            Some(())
        })?;
        Some(found)
    }

    /// Derives all that follows. `None` if it is too much work.
    fn run(&mut self) -> Option<()> {
        for level in 0..self.open.by_level.len() {
            while !self.open.by_level[level].is_empty() {
                let empty = std::mem::take(self.layer);
                let mut layer = std::mem::replace(&mut self.open.by_level[level], empty);
                // Sets of nodes grow at their end: in the middle each node would move all that are above it.
                layer.sort_unstable();
                let derived = self.layer(&layer);
                layer.clear();
                *self.layer = layer;
                // Only after the memory is given back.
                derived?;
            }
        }
        Some(())
    }

    /// Derives what follows from open facts. `None` if it is too much work.
    fn layer(&mut self, open: &[(TermId, Node)]) -> Option<()> {
        for (term, node) in open {
            // What follows from a known fact was opened with it.
            if self.holds(self.graph.schema.term(*term), *node) && self.facts.insert(*term, *node) {
                self.follow(*term, *node)?;
            }
        }
        Some(())
    }

    /// Returns whether a term holds of which a part is known to hold.
    fn holds(&self, term: &Term, node: Node) -> bool {
        match &term.kind {
            TermKind::Any { .. } => true,
            // The terms of `none` are of lower levels.
            TermKind::All { all, none } => {
                all.iter().all(|factor| self.facts.has(*factor, node))
                    && !(self.has_negations
                        && none.iter().any(|factor| self.facts.has(*factor, node)))
            }
        }
    }

    fn follow(&mut self, term: TermId, node: Node) -> Option<()> {
        let (schema, table) = (&self.graph.schema, &self.graph.table);
        let uses = schema.uses(term);
        self.left.steps = self.left.steps.checked_sub(uses.len())?;
        for used in uses {
            // The level of a user is never below the level of the term, so that no finished level is opened again.
            let (TermUse::Same(user) | TermUse::Arrow(_, user)) = *used;
            if !self.open.is_relevant(user) {
                continue;
            }
            let TermUse::Arrow(over, _) = *used else {
                self.open.push(user, node);
                continue;
            };
            let key = self.graph.arrow_key(over).turned().only();
            table.at(Way::Back, node).each(key, |edges| {
                self.left.edges = self.left.edges.checked_sub(edges.len())?;
                edges.nodes(&mut self.moment).for_each(|object| self.open.push(user, object));
                Some(())
            })?;
        }
        if let Some(userset) = schema.userset(term) {
            let number = schema.number(userset);
            if self.stored(node, Some(number))? {
                self.usersets.push((number, node));
            }
        }
        Some(())
    }
}
