//! A search gives for each candidate what a check of it gives.

mod generate;

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use portcullis_engine::entities::{Entity, EntityInput, EntityTable};
use portcullis_engine::request::Roles;
use portcullis_engine::search::{
    EntitySearch, SearchCandidate, SearchInput, SearchOutcome, Searched,
};
use portcullis_engine::types::PropertySource;
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, Effect, Json, Plan, Precedence, TenantFacts, Verdict, json,
};
use portcullis_workloads::vocabulary::{SUBJECTS, attributes};
use serde_json::{Map, Value, json as tree};

use generate::{RESOURCE, plan};

/// The number of compared decisions, by default and in the long test.
const CASES: usize = 20_000;
const MANY_CASES: usize = 1_000_000;
/// Enough entities that a property gets an index.
const ENTITIES: usize = 130;
/// The number of plans that search one table.
const PLANS: usize = 10;

#[test]
fn a_search_decides_as_checks_do() {
    compare(CASES, 1);
}

#[test]
#[ignore = "a soak: `.ci/long` runs it"]
fn a_search_decides_as_a_million_checks_do() {
    compare(MANY_CASES, 2);
}

/// The counts of compared decisions by kind.
type Tally = BTreeMap<&'static str, usize>;

fn compare(cases: usize, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let mut tally = Tally::new();
    while tally.values().sum::<usize>() < cases {
        let searched = random.choice([Searched::Resource, Searched::Subject]).expect("two");
        let stored = Stored::new(&mut random, searched);
        for _ in 0..PLANS {
            stored.compare(&mut random, &mut tally);
        }
    }
    println!("{tally:?}");
    for (kind, per_mille) in
        [("allowed", 100), ("denied", 200), ("conditional", 20), ("skipped", 20)]
    {
        let count = tally.get(kind).copied().unwrap_or_default();
        assert!(count * 1_000 >= cases * per_mille, "only {count} of {cases} are {kind}");
    }
}

/// A table, and its entities as JSON.
struct Stored {
    searched: Searched,
    table: EntityTable,
    roles: BTreeMap<String, Value>,
    properties: BTreeMap<String, Value>,
}

impl Stored {
    fn new(random: &mut Rng, searched: Searched) -> Self {
        let kind = if searched == Searched::Subject { "user" } else { "resource" };
        let mut stored = Self {
            searched,
            table: EntityTable::default(),
            roles: BTreeMap::new(),
            properties: BTreeMap::new(),
        };
        let mut builder = EntityTable::builder();
        for number in 0..ENTITIES {
            let id = SUBJECTS.get(number).map_or_else(|| format!("e{number}"), ToString::to_string);
            let roles =
                Value::from_iter((0..3).filter(|_| random.bool()).map(|n| format!("role-{n}")));
            let properties = attributes(random, kind);
            input(&id, &roles, &properties, |entity| builder.push(entity).expect("room"));
            stored.roles.insert(id.clone(), roles);
            stored.properties.insert(id, properties);
        }
        stored.table = builder.finish().expect("room");
        for _ in 0..random.usize(0..4) {
            stored.change(random, kind);
        }
        stored
    }

    /// Replaces one entity.
    fn change(&mut self, random: &mut Rng, kind: &str) {
        let id = format!("e{}", random.usize(0..ENTITIES + 2));
        let (roles, properties) = (tree!(["role-0"]), attributes(random, kind));
        input(&id, &roles, &properties, |entity| {
            let change = portcullis_engine::entities::EntityChange::Put(*entity);
            self.table = self.table.changed([change]).expect("room");
        });
        self.roles.insert(id.clone(), roles);
        self.properties.insert(id, properties);
    }

    /// Searches with one plan, and compares the outcome of each entity with its check.
    fn compare(&self, random: &mut Rng, tally: &mut Tally) {
        let (plan, text_of_plan) = plan(random);
        let facts = Facts::new(random);
        let plan = plan.with_facts(Arc::new(facts.all()));
        let mut common = tree!({
            "user": attributes(random, "user"),
            "resource": if random.bool() { attributes(random, "resource") } else { tree!({}) },
        });
        let kind = if self.searched == Searched::Subject { "user" } else { "resource" };
        if random.bool() {
            say_absent(&mut common[kind], attributes(random, kind));
        }
        let body = body("alice", &common, &tree!([]));
        let text = body.to_string();
        let json = json::parse(text.as_bytes()).expect("JSON");
        let check = check(&json);
        let input =
            SearchInput { check: &check, searched: self.searched, entities: None, is_given: false };
        let search = EntitySearch::new(&plan, input);
        let entity_type = self.entity_type();
        let mut visited = Vec::new();
        for entity in search.entities(&self.table, entity_type, None, &[]) {
            let roles: Vec<&str> = entity.roles().collect();
            let candidate = self.candidate(entity, &roles);
            let outcome = search.decide(&candidate);
            let expected = self.expected(&plan, &common, &facts, entity.id());
            let kind = shown(&outcome);
            assert_eq!(kind.1, expected, "{entity:?} of {text_of_plan} {common} {facts:?}");
            *tally.entry(kind.0).or_default() += 1;
            visited.push(entity.id());
        }
        assert!(visited.is_sorted());
        for id in self.properties.keys().filter(|id| !visited.contains(&id.as_str())) {
            let expected = self.expected(&plan, &common, &facts, id);
            assert_eq!(
                expected, "deny",
                "{id} {} is left out of {text_of_plan} {common} {facts:?}",
                self.properties[id]
            );
            *tally.entry("skipped").or_default() += 1;
        }
        let after = visited.get(visited.len() / 2).copied();
        let rest = search.entities(&self.table, entity_type, after, &[]).map(Entity::id);
        assert!(rest.eq(visited[visited.len().min(visited.len() / 2 + 1)..].iter().copied()));
    }

    fn entity_type(&self) -> &'static str {
        ENTITY_TYPE
    }

    fn candidate<'e>(&self, entity: Entity<'e>, roles: &'e [&'e str]) -> SearchCandidate<'e> {
        let properties = entity.properties();
        match self.searched {
            Searched::Resource => SearchCandidate::for_resource(entity.id(), properties),
            Searched::Subject => {
                SearchCandidate::for_subject(entity.id(), Roles::Listed(roles), properties)
            }
        }
    }

    /// Returns the answer of a check of one entity.
    fn expected(&self, plan: &Plan, common: &Value, facts: &Facts, id: &str) -> String {
        let (kind, subject) = match self.searched {
            Searched::Resource => ("resource", "alice"),
            Searched::Subject => ("user", id),
        };
        let mut attributes = common.clone();
        let (stored, sent) = (object(&self.properties[id]), object(&common[kind]));
        let wins = facts.first == Precedence::Directory;
        let mut merged = stored.clone();
        merged.extend(sent.clone());
        merged.extend(if wins { stored.clone() } else { Map::new() });
        let declared = if kind == "user" { &facts.user } else { &facts.record };
        for (name, source) in declared {
            let value = match source {
                PropertySource::Directory => stored.get(name),
                PropertySource::Request => sent.get(name),
                PropertySource::Token => None,
            };
            merged.insert(name.clone(), value.cloned().unwrap_or_default());
        }
        if kind == "resource" {
            merged.insert("id".to_owned(), id.into());
        }
        attributes[kind] = merged.into();
        let none = tree!([]);
        let roles = if kind == "user" { &self.roles[id] } else { &none };
        let text = body(subject, &attributes, roles).to_string();
        let json = json::parse(text.as_bytes()).expect("JSON");
        match plan.decide(&check(&json), &AttributeAnswers::default()) {
            Verdict::Decided(decision) if decision.effect() == Effect::Allow => {
                format!("allow by {}", decision.matched_rule_id())
            }
            Verdict::Decided(_) => "deny".to_owned(),
            Verdict::NeedsAttributes(requests) => {
                let names = requests.iter().flat_map(|request| {
                    request.attributes.iter().map(|name| format!("{}.{name}", request.namespace))
                });
                let mut names: Vec<String> = names.collect();
                names.sort();
                format!("depends on {}", names.join(", "))
            }
        }
    }
}

const ENTITY_TYPE: &str = "user";

/// The place that goes first, and the declared sources of some properties of users and records.
#[derive(Debug)]
struct Facts {
    first: Precedence,
    user: Vec<(String, PropertySource)>,
    record: Vec<(String, PropertySource)>,
}

impl Facts {
    fn new(random: &mut Rng) -> Self {
        let wins = random.u8(0..3) == 0;
        let mut declare = |names: &[&str], sources: &[PropertySource]| {
            let names = names.iter().filter(|_| random.u8(0..3) == 0);
            let names: Vec<String> = names.map(|name| (*name).to_owned()).collect();
            let source = |name| (name, random.choice(sources).copied().expect("a source"));
            names.into_iter().map(source).collect()
        };
        let [request, directory] = [PropertySource::Request, PropertySource::Directory];
        Self {
            first: if wins { Precedence::Directory } else { Precedence::Request },
            user: declare(
                &["name", "level", "teams"],
                &[request, PropertySource::Token, directory],
            ),
            record: declare(&["owner", "state", "tags"], &[request, directory]),
        }
    }

    fn all(&self) -> TenantFacts {
        let types = [("user", &self.user), ("record", &self.record)];
        let sources = types.map(|(name, sources)| (name.to_owned(), sources.clone()));
        let sources = sources.into_iter().collect();
        TenantFacts { directory: Some(self.first), sources, ..TenantFacts::default() }
    }
}

fn shown(outcome: &SearchOutcome<'_>) -> (&'static str, String) {
    match outcome {
        SearchOutcome::Allowed(id) => ("allowed", format!("allow by {id}")),
        SearchOutcome::Denied => ("denied", "deny".to_owned()),
        SearchOutcome::Conditional(it) => {
            ("conditional", format!("depends on {}", it.depends_on.join(", ")))
        }
    }
}

fn input(id: &str, roles: &Value, properties: &Value, use_it: impl FnOnce(&EntityInput<'_>)) {
    let [roles, properties] = [roles, properties].map(Value::to_string);
    let roles = json::parse(roles.as_bytes()).expect("JSON");
    let properties = json::parse(properties.as_bytes()).expect("JSON");
    use_it(&EntityInput {
        entity_type: ENTITY_TYPE,
        id,
        roles: roles.as_array().expect("a list"),
        domain_roles: &[],
        properties: properties.as_object().expect("an object"),
    });
}

/// Returns the body of a check. The roles stand in the attribute that no condition reads.
fn body(subject: &str, attributes: &Value, roles: &Value) -> Value {
    let mut attributes = attributes.clone();
    if roles.as_array().is_some_and(|roles| !roles.is_empty()) {
        attributes["user"]["roles"] = roles.clone();
    }
    tree!({"subject": subject, "resource": RESOURCE, "action": "read", "attributes": attributes})
}

/// Makes the check of a body.
fn check<'j>(json: &'j Json<'j>) -> Check<'j> {
    let body = CheckBody::parse(json).expect("a check");
    Check::new(body, "acme", None, chrono::DateTime::UNIX_EPOCH)
}

/// Adds `null` for the names that `sent` does not have.
fn say_absent(sent: &mut Value, names: Value) {
    for name in object(&names).keys() {
        if sent.get(name).is_none() {
            sent[name] = Value::Null;
        }
    }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
