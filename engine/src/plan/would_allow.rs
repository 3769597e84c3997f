//! The smallest changes of a denied request that would be allowed (`docs/semantics.md`, section 2.14).
//!
//! A search over changes, one after the other. Whatever flips the decision changes an attribute of the policy that denies,
//! or of an allowing one that comes before it: so only those are changed, to each value that a test tells apart. A policy
//! that takes more changes than are left is not pursued. Each set that is found was decided by the plan.

mod distance;
mod lists;
mod values;
mod world;

use chrono::TimeDelta;
use hashbrown::HashMap;
use uuid::Uuid;

use self::distance::{Distances, FAR, attributes};
use self::values::{STANDS, Values};
use self::world::{World, json};
use super::explanation::{AttributeChange, ChangeSet, Counterfactuals};
use super::layer::Layer;
use super::program::{NodeId, Operation, Run};
use super::stages::LayerValues;
use super::{Plan, Verdict};
use crate::attributes::Attributes;
use crate::condition::AttributePath;
use crate::json::Json;
use crate::policy::PlannedPolicy;
use crate::rbac::Effect;
use crate::relation::RELATION;
use crate::request::Check;
use crate::resolution::AttributeAnswers;
use crate::value::{AttributeValue, parse_instant};

/// The most changes of a set.
const MAX_CHANGES: usize = 3;
/// The most sets that are found.
const MAX_SETS: usize = 16;
/// The most conditions and values that are looked at: some 10 ms.
const MAX_STEPS: usize = 100_000;
/// A decision by the plan, in steps.
const DECISION_STEPS: usize = 20;

impl Plan {
    /// Returns the smallest sets of changes of the attributes that `check` sent by which the plan allows it. `answers` are
    /// those that it was decided with: relations count as long as no attribute of the resource changes; a set is found only
    /// if it allows whatever resolvers answer.
    pub fn would_allow<'e>(
        &'e self,
        check: &Check<'e>,
        answers: &AttributeAnswers,
    ) -> Counterfactuals {
        // No attribute changes which rules match.
        let rule = self.rules.decide(check, &self.resource);
        let mut search = Search::new(self, check, answers, rule.is_some());
        if rule.as_ref().is_none_or(|rule| rule.effect == Effect::Allow) {
            // Smaller sets are found first, and keep larger ones with the same attributes out.
            (1..=MAX_CHANGES).for_each(|most| search.deepen(most));
        }
        let sets = search.found.into_iter().map(|found| found.set).collect();
        Counterfactuals { sets, is_complete: search.is_complete }
    }
}

/// A policy, with what a change of it can be.
struct Ranked<'e> {
    policy: &'e PlannedPolicy,
    layer: usize,
    /// `None` if the stored condition does not compile.
    condition: Option<NodeId>,
    /// The numbers of the attributes that it reads and that can be changed, ascending.
    attributes: Vec<usize>,
}

/// Changes that allow.
struct FoundSet {
    /// The numbers of the attributes.
    attributes: Vec<usize>,
    set: ChangeSet,
}

/// The values that an attribute can be changed to; `None` leaves it out.
type Options = (usize, Vec<Option<Json<'static>>>);

/// The state of one search.
struct Search<'e> {
    plan: &'e Plan,
    /// Whether a rule allows where no policy denies.
    has_rule: bool,
    relations: AttributeAnswers,
    world: World<'e>,
    /// The attributes that can be changed.
    paths: Vec<&'e AttributePath>,
    /// The value of each that the check was decided with.
    from: Vec<Option<Json<'static>>>,
    /// By layer and slot: the number of the attribute.
    changeable: Vec<Vec<Option<usize>>>,
    /// By layer: the tests of the policies that are still there, ascending.
    tests: Vec<Vec<NodeId>>,
    /// The attributes that tests compare with each other, directly or through others, with each of them. A value that a
    /// test of one tells apart can be needed for another.
    compared: Vec<Vec<usize>>,
    /// In deciding order.
    policies: Vec<Ranked<'e>>,
    /// The numbers of the attributes that are changed now.
    changed: Vec<usize>,
    found: Vec<FoundSet>,
    steps: usize,
    is_complete: bool,
}

impl<'e> Search<'e> {
    fn new(plan: &'e Plan, check: &Check<'e>, answers: &AttributeAnswers, has_rule: bool) -> Self {
        let mut relations = AttributeAnswers::default();
        for (name, answer) in answers.for_namespace(RELATION) {
            relations.insert(RELATION, name, answer.clone());
        }
        let world = World::new(check);
        let has_directory = plan.directory_needs().any();
        // By path: the number of the attribute, if it can be changed.
        let mut known = HashMap::new();
        let (mut paths, mut changeable) = (Vec::new(), Vec::new());
        for layer in &plan.layers {
            let slots = layer.abac.slots.paths().map(|path| {
                *known.entry(path).or_insert_with(|| {
                    world.can_change(path, has_directory).then(|| {
                        paths.push(path);
                        paths.len() - 1
                    })
                })
            });
            changeable.push(slots.collect::<Vec<_>>());
        }
        let tests: Vec<_> = plan.layers.iter().map(tests_of).collect();
        let mut search = Self {
            plan,
            has_rule,
            relations,
            world,
            from: paths
                .iter()
                .map(|path| value_of(&check.attributes, path).and_then(json))
                .collect(),
            paths,
            compared: compared(plan, &tests, &changeable),
            changeable,
            tests,
            policies: Vec::new(),
            changed: Vec::new(),
            found: Vec::new(),
            steps: 0,
            is_complete: true,
        };
        search.policies = search.ranked();
        search
    }

    /// Returns the policies and the rules by relations, in deciding order.
    fn ranked(&self) -> Vec<Ranked<'e>> {
        let mut all = Vec::new();
        for (at, layer) in self.plan.layers.iter().enumerate() {
            for rank in layer.ranks() {
                let Some(policy) = layer.policy(rank) else { continue };
                let condition = layer.abac.conditions[rank as usize].condition;
                let mut read = Vec::new();
                if let Some(root) = condition {
                    visit_tests(layer.abac.program.nodes(), root, &mut |test| {
                        if let Operation::Test(test) = layer.abac.program.node(test) {
                            read.extend(attributes(test, &self.changeable[at]));
                        }
                    });
                }
                read.sort_unstable();
                read.dedup();
                all.push(Ranked { policy, layer: at, condition, attributes: read });
            }
        }
        all.sort_unstable_by_key(|ranked| ranked.policy.order());
        all
    }

    /// Changes at most `most` further attributes, and notes what allows. Leaves the world as it was.
    fn deepen(&mut self, most: usize) {
        if self.is_exhausted() {
            return;
        }
        for (attribute, values) in self.options(most) {
            self.changed.push(attribute);
            for value in values {
                // One value for each set of attributes suffices.
                if self.is_found() || self.is_exhausted() {
                    break;
                }
                let before = self.world.put(self.paths[attribute], value.clone());
                if value != before {
                    match self.allows() {
                        true => self.note(),
                        false if most > 1 => self.deepen(most - 1),
                        false => {}
                    }
                }
                self.world.put(self.paths[attribute], before);
            }
            self.changed.pop();
        }
    }

    /// Returns whether the search must end here. It is not complete then.
    fn is_exhausted(&mut self) -> bool {
        let is_exhausted = self.found.len() >= MAX_SETS || self.steps > MAX_STEPS;
        self.is_complete &= !is_exhausted;
        is_exhausted
    }

    /// Returns whether the changed attributes, or some of them, are found already.
    fn is_found(&self) -> bool {
        let mut found = self.found.iter();
        found.any(|found| found.attributes.iter().all(|one| self.changed.contains(one)))
    }

    fn answers(&self) -> &AttributeAnswers {
        let mut changed = self.changed.iter().map(|number| self.paths[*number]);
        // A relation can read attributes of the resource.
        match changed.any(|path| matches!(path, AttributePath::Resource(_))) {
            true => AttributeAnswers::none(),
            false => &self.relations,
        }
    }

    /// Returns whether the plan allows the check as it is now. A changed instant must stand.
    fn allows(&mut self) -> bool {
        self.allows_after(TimeDelta::zero())
            && (!self.has_changed_instant() || self.allows_after(STANDS))
    }

    /// Returns whether the plan allows the check as it will be after `time`.
    fn allows_after(&mut self, time: TimeDelta) -> bool {
        self.steps += DECISION_STEPS;
        let verdict = self.world.with_check_after(time, |check| {
            match self.plan.decide(check, self.answers()) {
                Verdict::Decided(decision) => Some(decision.effect()),
                Verdict::NeedsAttributes(_) => None,
            }
        });
        // A resolver would decide, so a set that allows may be missed.
        self.is_complete &= verdict.is_some();
        verdict == Some(Effect::Allow)
    }

    fn has_changed_instant(&self) -> bool {
        let mut sent = self.changed.iter().filter_map(|one| self.world.sent(self.paths[*one]));
        sent.any(|value| value.as_str().and_then(parse_instant).is_some())
    }

    fn note(&mut self) {
        let changes = self.changed.iter().map(|number| AttributeChange {
            attribute: self.paths[*number].to_string(),
            from: self.from[*number].clone(),
            to: self.world.sent(self.paths[*number]).cloned().map(Json::into_owned),
        });
        let set = ChangeSet { changes: changes.collect() };
        self.found.push(FoundSet { attributes: self.changed.clone(), set });
    }

    /// Returns the attributes of which one must be changed, each with its values; none if `most` changes do not suffice.
    fn options(&mut self, most: usize) -> Vec<Options> {
        let (options, steps, are_exact) = self.world.with_check(|check| {
            let texts = self.plan.made_texts(check);
            let mut values = LayerValues::default();
            let answers = self.answers();
            self.plan.read_values(check, answers, &texts, &mut values);
            let layers = self.plan.layers.iter().zip(values.iter()).zip(&self.changeable);
            let mut layers: Vec<_> = layers
                .map(|((layer, values), changeable)| {
                    let run = Run::new(&layer.abac.program, values);
                    Distances { run, changeable, steps: values.len() }
                })
                .collect();
            let decides = match self.plan.decide(check, answers) {
                Verdict::Decided(decision) => Some(decision.rule_id()),
                Verdict::NeedsAttributes(_) => None,
            };
            let relevant = self.relevant(decides, most, &mut layers);
            let (mut options, mut are_exact) = (Vec::new(), true);
            for attribute in relevant.into_iter().filter(|one| !self.changed.contains(one)) {
                // The conditions are read once for each attribute.
                if layers.iter().map(|layer| layer.steps).sum::<usize>() > MAX_STEPS {
                    are_exact = false;
                    break;
                }
                let present = value_of(&check.attributes, self.paths[attribute]);
                let mut values = Values::new(present, check.now);
                for compared in &self.compared[attribute] {
                    self.add_tests(*compared, &mut layers, &mut values);
                }
                let (values, exact) = values.finish();
                are_exact &= exact;
                options.push((attribute, values));
            }
            let steps: usize = layers.iter().map(|layer| layer.steps).sum();
            (options, steps, are_exact)
        });
        self.steps += steps;
        self.is_complete &= are_exact;
        options
    }

    /// Returns the attributes of which at least one is in each set of at most `most` changes that allows. `decides` is what
    /// denies; the outer `None` says that resolvers decide what does.
    fn relevant(
        &self,
        decides: Option<Option<Uuid>>,
        most: usize,
        layers: &mut [Distances<'_, '_>],
    ) -> Vec<usize> {
        let mut allowing = self.policies.iter().filter(|one| one.policy.effect == Effect::Allow);
        // Without a rule that allows, each set must make an allowing policy apply.
        if !self.has_rule && !allowing.any(|ranked| ranked.distance(layers) <= most) {
            return Vec::new();
        }
        let denies = decides.flatten();
        let place = self.policies.iter().position(|ranked| Some(ranked.policy.id) == denies);
        // Without a policy that denies, each that allows would decide.
        let before = place.unwrap_or(self.policies.len());
        let mut relevant = Vec::new();
        for ranked in &self.policies[..before] {
            // Where resolvers decide what denies, it can be any policy. Otherwise only an allow can come before it.
            let is_open = decides.is_none() || ranked.policy.effect == Effect::Allow;
            if is_open && ranked.distance(layers) <= most {
                relevant.extend(&ranked.attributes);
            }
        }
        if let Some(denying) = place.and_then(|place| self.policies.get(place))
            && denying.distance(layers) <= most
        {
            relevant.extend(&denying.attributes);
        }
        relevant.sort_unstable();
        relevant.dedup();
        relevant
    }

    /// Adds the values that the tests of an attribute tell apart.
    fn add_tests(
        &self,
        attribute: usize,
        layers: &mut [Distances<'_, '_>],
        values: &mut Values<'_>,
    ) {
        let layers = self.plan.layers.iter().zip(layers);
        for (((layer, distances), changeable), tests) in
            layers.zip(&self.changeable).zip(&self.tests)
        {
            let slot = changeable.iter().position(|number| *number == Some(attribute));
            let Some(slot) = slot.and_then(|slot| slot.try_into().ok()) else { continue };
            for number in tests.iter().copied() {
                distances.steps += 1;
                if let Operation::Test(test) = layer.abac.program.node(number)
                    && attributes(test, changeable).any(|number| number == attribute)
                {
                    distances.steps += distances.run.steps(number, test).unwrap_or_default();
                    if distances.steps > MAX_STEPS {
                        values.are_exact = false;
                        return;
                    }
                    values.add(number, test, slot, &mut distances.run);
                }
            }
        }
    }
}

impl Ranked<'_> {
    /// Returns how many changes it takes at least until the policy allows, or denies no more.
    fn distance(&self, layers: &mut [Distances<'_, '_>]) -> usize {
        let wanted = self.policy.effect == Effect::Allow;
        self.condition.map_or(FAR, |root| layers[self.layer].to(root, wanted))
    }
}

/// Returns the tests of the policies of a layer that are still there, ascending. The program has those of the others, too.
fn tests_of(layer: &Layer) -> Vec<NodeId> {
    let mut tests = Vec::new();
    let conditions = layer.ranks().map(|rank| layer.abac.conditions[rank as usize].condition);
    for root in conditions.flatten() {
        visit_tests(layer.abac.program.nodes(), root, &mut |test| tests.push(test));
    }
    tests.sort_unstable();
    tests.dedup();
    tests
}

/// Returns, by number, the attributes that tests compare with each other: each with itself at least.
fn compared(
    plan: &Plan,
    tests: &[Vec<NodeId>],
    changeable: &[Vec<Option<usize>>],
) -> Vec<Vec<usize>> {
    let count = changeable.iter().flatten().flatten().max().map_or(0, |last| last + 1);
    let mut groups: Vec<usize> = (0..count).collect();
    for ((layer, tests), changeable) in plan.layers.iter().zip(tests).zip(changeable) {
        for node in tests {
            let Operation::Test(test) = layer.abac.program.node(*node) else { continue };
            let mut all = attributes(test, changeable);
            let Some(first) = all.next() else { continue };
            for other in all {
                let (one, other) = (groups[first], groups[other]);
                // Whole groups are joined, so that attributes that are compared through a third one are together.
                groups.iter_mut().filter(|group| **group == other).for_each(|group| *group = one);
            }
        }
    }
    let members = groups.iter().map(|group| {
        let all = (0..count).filter(|other| groups[*other] == *group);
        all.collect()
    });
    members.collect()
}

/// Passes the number of each test below `root` to `visit`.
fn visit_tests(nodes: &[Operation], root: NodeId, visit: &mut impl FnMut(NodeId)) {
    match &nodes[root as usize] {
        Operation::All(children) | Operation::Any(children) => {
            children.iter().for_each(|child| visit_tests(nodes, child.node, visit));
        }
        Operation::Not(child) => visit_tests(nodes, *child, visit),
        Operation::Test(_) => visit(root),
    }
}

/// Returns the value of an attribute of a request.
fn value_of<'c>(attributes: &Attributes<'c>, path: &AttributePath) -> Option<AttributeValue<'c>> {
    let (map, name) = attributes.attribute(path)?;
    map.get(name)
}
