//! The ground of an explanation: every instance that an answer can depend on, with what each depends on.

use chrono::{DateTime, Utc};

use super::answer::{EdgeOrigin, LookedAt, PathEdge};
use crate::closure::Closure;
use crate::combined::GraphBuffer;
use crate::graph::Graph;
use crate::instances::{Instance, Instances};
use crate::max_work::{MAX_EDGES, MaxWork};
use crate::resource::{ROOT, Resource};
use crate::schema::{FlatArrow, RelationId, RelationNumber};
use crate::table::{Edge, EdgeKey, EdgesAt, Moment, Node, Object, Way};

/// The expired edges that are named.
const MAX_EXPIRED: usize = 10;
/// The relations that are named.
const MAX_RELATIONS: usize = 20;
/// An explanation may look at this many times the edges of a check: it looks for the usersets of the subject in every list.
const TIMES_OF_CHECK: usize = 4;

/// The instances of a question, and what each depends on.
pub(super) struct Ground<'e> {
    pub(super) graph: &'e Graph,
    /// The closure of the answer, whose key has the names that edges show.
    closure: &'e Closure,
    /// Everything that could stand for the subject, whatever negations say.
    possible: Closure,
    resource: Resource<'e>,
    object: Object<'e>,
    pub(super) instances: Instances,
    /// One for each instance.
    pub(super) rules: Vec<Rule<'e>>,
    /// Whether an instance was first met as a userset.
    is_userset: Vec<bool>,
    relations: Vec<RelationId>,
    moment: Moment,
    most: MaxWork,
    left: MaxWork,
}

/// The ways in which an instance holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule<'e> {
    /// Whether all needs must hold, instead of one of them.
    pub(super) is_all: bool,
    pub(super) level: u32,
    /// An edge by which the instance holds at once.
    pub(super) base: Option<PathEdge<'e>>,
    pub(super) needs: Vec<Need>,
}

/// An instance on which another depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    pub(super) place: usize,
    pub(super) is_negative: bool,
    /// The edge that leads there, if it is another object.
    pub(super) edge: Option<(EdgeKey, EdgeOrigin)>,
}

impl<'e> Ground<'e> {
    /// Starts with the closure of everything that could stand for the subject. Looks at no more than `max_edges` others.
    pub(super) fn new(
        graph: &'e Graph,
        closure: &'e Closure,
        now: DateTime<Utc>,
        (resource, object, max_edges): (Resource<'e>, Object<'e>, usize),
        buffer: &mut GraphBuffer,
    ) -> Self {
        let mut possible = graph.unclosed(closure.key.clone());
        let moment = Moment::noting(now, MAX_EXPIRED);
        let moment = graph.fill(&mut possible, (moment, MAX_EDGES), false, buffer);
        let most = MaxWork::new(max_edges.min(TIMES_OF_CHECK * MAX_EDGES));
        Self {
            graph,
            closure,
            possible,
            resource,
            object,
            instances: Instances::default(),
            rules: Vec::new(),
            is_userset: Vec::new(),
            relations: Vec::new(),
            moment,
            most,
            left: most,
        }
    }

    /// Returns the number of edges that were looked at.
    pub(super) fn looked_at_edges(&self) -> usize {
        // A closure that is too large was given up at this number.
        self.possible.edges.unwrap_or(MAX_EDGES) + self.most.edges - self.left.edges
    }

    /// Finds everything on which `root` depends. `None` if it is too much work.
    pub(super) fn expand(&mut self, root: Instance) -> Option<()> {
        self.possible.edges?;
        self.add(root, false);
        // The rule of an instance adds those that it needs at the end.
        for place in 0.. {
            if place == self.instances.len() {
                break;
            }
            let rule = self.rule(place)?;
            self.rules.push(rule);
        }
        Some(())
    }

    /// Adds an instance unless it is there. Returns its place.
    fn add(&mut self, instance: Instance, is_userset: bool) -> usize {
        let place = self.instances.add(instance);
        if place == self.is_userset.len() {
            self.is_userset.push(is_userset);
        }
        place
    }

    fn rule(&mut self, place: usize) -> Option<Rule<'e>> {
        let (graph, Instance { node, term }) = (self.graph, self.instances.get(place));
        let flat = graph.schema.flat(term);
        // One step for the instance itself, so that instances without edges end, too.
        self.left.steps = self.left.steps.checked_sub(1 + flat.same.len() + flat.none.len())?;
        let mut rule = Rule { is_all: flat.is_all, level: flat.level, ..Rule::default() };
        let same = flat.same.iter().map(|term| (*term, false));
        for (term, is_negative) in same.chain(flat.none.iter().map(|term| (*term, true))) {
            let place = self.add(Instance { node, term }, self.is_userset[place]);
            rule.needs.push(Need { place, is_negative, edge: None });
        }
        let edges = self.resource.stored(node).map(|node| graph.table.at(Way::Forward, node));
        for (relation, number) in &flat.stored {
            match (self.resource.hop(node, *relation), edges) {
                // The objects of the request stand for all that is stored and claimed.
                (Some(objects), _) => {
                    self.request(&mut rule, node, (*relation, *number), objects)?
                }
                (None, edges) => {
                    self.claim(&mut rule, node, (*relation, *number));
                    edges.map_or(Some(()), |edges| {
                        self.stored(&mut rule, place, (*relation, *number), edges)
                    })?;
                }
            }
        }
        for arrow in &flat.arrows {
            match (self.resource.hop(node, arrow.over), edges) {
                (Some(objects), _) => self.follow_objects(&mut rule, place, arrow, objects)?,
                (None, Some(edges)) => self.follow(&mut rule, place, arrow, edges)?,
                (None, None) => {}
            }
        }
        Some(rule)
    }

    /// Returns the subject of the question.
    fn subject(&self) -> Object<'e> {
        let key = &self.closure.key;
        Object { object_type: self.graph.schema.type_name(key.subject_type), id: &key.id }
    }

    /// Adds the subject, if it is one of the objects that the request has.
    fn request(
        &mut self,
        rule: &mut Rule<'e>,
        node: Node,
        (_, number): (RelationId, RelationNumber),
        objects: &'e [Object<'e>],
    ) -> Option<()> {
        self.left.edges = self.left.edges.checked_sub(objects.len())?;
        if objects.contains(&self.subject()) {
            let key = EdgeKey::new(number, None);
            rule.base =
                Some(self.edge((self.name(node), key, self.subject()), EdgeOrigin::Request, None));
        }
        Some(())
    }

    /// Adds the claim that makes the subject a member.
    fn claim(
        &mut self,
        rule: &mut Rule<'e>,
        node: Node,
        (relation, number): (RelationId, RelationNumber),
    ) {
        let claimed = &self.closure.claimed;
        let stored = self.resource.stored(node);
        if stored.is_some_and(|node| claimed.binary_search(&(node, relation)).is_ok()) {
            let key = EdgeKey::new(number, None);
            rule.base =
                Some(self.edge((self.name(node), key, self.subject()), EdgeOrigin::Claim, None));
        }
    }

    /// Adds what is stored: the subject itself, and the usersets that it could be in.
    fn stored(
        &mut self,
        rule: &mut Rule<'e>,
        place: usize,
        (relation, number): (RelationId, RelationNumber),
        edges: EdgesAt<'e>,
    ) -> Option<()> {
        let (graph, node) = (self.graph, self.instances.get(place).node);
        edges.each(EdgeKey::for_relation(number), |edges| {
            self.note(relation, place);
            let related = edges.key.subject_relation();
            // A copy, because `add` needs the whole ground.
            let members = self.possible.members(related).to_vec();
            self.left.edges = self.left.edges.checked_sub(members.len())?;
            for member in members {
                if !edges.lead_to(member, &mut self.moment) {
                    continue;
                }
                let Some(userset) = related.and_then(|number| graph.schema.by_number(number))
                else {
                    rule.base = Some(self.stored_edge(node, edges.key, member));
                    continue;
                };
                let place = self.add(Instance { node: member, term: userset.term() }, true);
                let edge = Some((edges.key, EdgeOrigin::Tuple));
                rule.needs.push(Need { place, is_negative: false, edge });
            }
            Some(())
        })
    }

    fn follow(
        &mut self,
        rule: &mut Rule<'e>,
        place: usize,
        arrow: &FlatArrow,
        edges: EdgesAt<'e>,
    ) -> Option<()> {
        let is_userset = self.is_userset[place];
        edges.each(EdgeKey::new(arrow.number, None).only(), |edges| {
            self.note(arrow.over, place);
            self.left.edges = self.left.edges.checked_sub(edges.len())?;
            // A copy, because `add` needs the whole ground while the nodes are read.
            let mut moment = self.moment.clone();
            for node in edges.nodes(&mut moment) {
                for (type_id, term) in &arrow.targets {
                    if self.graph.is_of_type(node, *type_id) {
                        let place = self.add(Instance { node, term: *term }, is_userset);
                        let edge = Some((edges.key, EdgeOrigin::Tuple));
                        rule.needs.push(Need { place, is_negative: false, edge });
                    }
                }
            }
            self.moment = moment;
            Some(())
        })
    }

    fn follow_objects(
        &mut self,
        rule: &mut Rule<'e>,
        place: usize,
        arrow: &FlatArrow,
        objects: &'e [Object<'e>],
    ) -> Option<()> {
        let (graph, is_userset) = (self.graph, self.is_userset[place]);
        self.left.edges = self.left.edges.checked_sub(objects.len())?;
        for object in objects {
            let Some(type_id) = graph.schema.type_id(object.object_type) else { continue };
            let node = graph.table.find(*object);
            // An object that no tuple names has a number in the closure alone.
            let node = node.or_else(|| self.closure.unknown(type_id, object.id));
            let Some(node) = node else { continue };
            for (_, term) in arrow.targets.iter().filter(|target| target.0 == type_id) {
                let place = self.add(Instance { node, term: *term }, is_userset);
                let edge = Some((EdgeKey::new(arrow.number, None), EdgeOrigin::Request));
                rule.needs.push(Need { place, is_negative: false, edge });
            }
        }
        Some(())
    }

    /// Notes that a relation of the object or of an ancestor has edges.
    fn note(&mut self, relation: RelationId, place: usize) {
        let is_new = !self.is_userset[place] && !self.relations.contains(&relation);
        if is_new && self.relations.len() < MAX_RELATIONS {
            self.relations.push(relation);
        }
    }

    /// Returns the rules as if there were only some of their edges.
    pub(super) fn with_only(&self, rules: &[Rule<'e>], edges: &[PathEdge<'e>]) -> Vec<Rule<'e>> {
        let mut rules = rules.to_vec();
        for (place, rule) in rules.iter_mut().enumerate() {
            rule.base = rule.base.filter(|base| edges.contains(base));
            rule.needs.retain(|need| {
                self.need_edge(place, *need).is_none_or(|edge| edges.contains(&edge))
            });
        }
        rules
    }

    /// Returns the edge of a need of the instance at `place`.
    pub(super) fn need_edge(&self, place: usize, need: Need) -> Option<PathEdge<'e>> {
        let (key, origin) = need.edge?;
        let [from, to] = [place, need.place].map(|place| self.instances.get(place).node);
        Some(match origin {
            EdgeOrigin::Tuple => self.stored_edge(from, key, to),
            _ => self.edge((self.name(from), key, self.name(to)), origin, None),
        })
    }

    fn stored_edge(&self, object: Node, key: EdgeKey, subject: Node) -> PathEdge<'e> {
        // The table does not know the number that stands for the object of the question.
        let stored = self.resource.stored(object).unwrap_or(object);
        let tuple = self.graph.table.tuple_of(Edge { object: stored, key, subject });
        self.edge((tuple.object, key, tuple.subject), EdgeOrigin::Tuple, tuple.expires_at)
    }

    fn edge(
        &self,
        (object, key, subject): (Object<'e>, EdgeKey, Object<'e>),
        origin: EdgeOrigin,
        expires_at: Option<DateTime<Utc>>,
    ) -> PathEdge<'e> {
        let relation = self.relation_name(key.relation()).unwrap_or_default();
        let subject_relation = key.subject_relation().and_then(|number| self.relation_name(number));
        PathEdge { object, relation, subject, subject_relation, expires_at, origin }
    }

    fn relation_name(&self, number: RelationNumber) -> Option<&'e str> {
        let schema = &self.graph.schema;
        schema.by_number(number).map(|relation| schema.name(relation))
    }

    /// Returns the name of a node.
    fn name(&self, node: Node) -> Object<'e> {
        if node == ROOT {
            return self.object;
        }
        match self.closure.unknown_object(node) {
            Some((type_id, id)) => Object { object_type: self.graph.schema.type_name(type_id), id },
            None => self.graph.table.get(node),
        }
    }

    /// Completes what is said about the places that were looked at.
    pub(super) fn looked_at(self, looked_at: LookedAt<'e>) -> LookedAt<'e> {
        let schema = &self.graph.schema;
        let places = (0..self.instances.len()).filter(|place| !self.is_userset[*place]);
        let mut objects: Vec<Node> = places.map(|place| self.instances.get(place).node).collect();
        objects.sort_unstable();
        objects.dedup();
        let relations = self.relations.iter().copied();
        let mut relations: Vec<_> =
            relations.map(|relation| (schema.type_of(relation), schema.name(relation))).collect();
        relations.sort_unstable();
        let expired = self.moment.clone().into_expired().into_iter();
        let expired = expired.map(|edge| self.stored_edge(edge.object, edge.key, edge.subject));
        LookedAt {
            // The object of the question is among them.
            ancestors: objects.len() - 1,
            relations,
            expired: expired.collect(),
            ..looked_at
        }
    }
}
