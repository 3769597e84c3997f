//! A search finds exactly what checks allow: random policies and rules, entities of the directory and candidates of the
//! request, each compared with a check of it. These routes refuse `null`; the tests of the engine compare it.
//!
//! `cargo test -p portcullis-server --test blackbox decides_as_a_million -- --ignored` compares a million candidates.

use std::collections::BTreeMap;
use std::iter;

use fastrand::Rng;
use portcullis_workloads::vocabulary::{SUBJECTS, attributes, condition};
use serde_json::{Map, Value, json};

use crate::everywhere::search::pages::all_found;
use crate::support::Tenant;

/// The number of compared candidates, by default and in the long test.
const CASES: usize = 10_000;
const MANY_CASES: usize = 1_000_000;
/// The entities of each of the two types.
const ENTITIES: usize = 500;
/// The searches for resources and for subjects that one directory serves, each with its own rules.
const PLANS: usize = 5;

#[test]
fn a_search_decides_as_checks_do() {
    compare(CASES, 1);
}

#[test]
#[ignore = "a soak: `.ci/long` runs it"]
fn a_search_decides_as_a_million_checks_do() {
    compare(MANY_CASES, 2);
}

/// The searches, and those that found a part of the candidates.
#[derive(Debug, Default)]
struct Counts {
    searches: usize,
    divided: usize,
}

/// The searches by the kind of their candidates, and by whether the request gave them.
type Tally = BTreeMap<(&'static str, bool), Counts>;

fn compare(cases: usize, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let mut tally = Tally::default();
    while tally.values().map(|counts| counts.searches * ENTITIES).sum::<usize>() < cases {
        let directory = Directory::new(&mut random);
        for number in 0..PLANS {
            let verb = format!("act{number}");
            let rules = directory.allow_some(&mut random, &verb);
            for kind in ["resource", "user"] {
                let question = Question::new(&mut random, kind, &verb);
                for candidates in [None, Some(directory.candidates(&mut random, kind))] {
                    directory.compare(&question, candidates, &rules, &mut tally);
                }
            }
        }
    }
    println!("{tally:?}");
    assert_eq!(tally.len(), 4);
    for (source, counts) in &tally {
        assert!(counts.divided * 10 >= counts.searches, "{source:?}: {counts:?}");
    }
}

/// A tenant and the ids of its entities, by the kind of attributes that they have.
struct Directory {
    tenant: Tenant<'static>,
    ids: BTreeMap<&'static str, Vec<String>>,
}

/// The parts that all candidates of a search share.
struct Question {
    kind: &'static str,
    verb: String,
    subject: &'static str,
    attributes: Value,
    limit: usize,
}

impl Question {
    fn new(random: &mut Rng, kind: &'static str, verb: &str) -> Self {
        let mut shared = json!({"user": attributes(random, "user"), "resource": {}});
        if random.bool() {
            shared["resource"] = attributes(random, "resource");
        }
        Self {
            kind,
            verb: verb.to_owned(),
            subject: random.choice(SUBJECTS).expect("some"),
            attributes: shared,
            limit: random.choice([1_000, 170, 45]).expect("three"),
        }
    }

    /// Returns the body that a search and a batch of checks share.
    fn body(&self) -> Value {
        let resource = format!("record:{}", self.verb);
        json!({"resource": resource, "action": self.verb, "attributes": self.attributes})
    }

    fn search(&self, candidates: Option<&[Value]>) -> (&'static str, Value) {
        let mut body = self.body();
        body["limit"] = self.limit.into();
        if let Some(candidates) = candidates {
            body["candidates"] = candidates.into();
        }
        if self.kind == "user" {
            return ("POST /api/v1/search/subjects", body);
        }
        body["subject"] = self.subject.into();
        ("POST /api/v1/search/resources", body)
    }

    /// Returns the check of one candidate.
    fn check(&self, candidate: &Value) -> Value {
        let mut attributes = self.attributes.clone();
        let own = attributes[self.kind].as_object_mut().expect("an object");
        own.extend(candidate["properties"].as_object().cloned().unwrap_or_default());
        if let Some(roles) = candidate.get("roles") {
            own.insert("roles".to_owned(), roles.clone());
        }
        let id = &candidate["id"];
        if self.kind == "user" {
            return json!({"subject": id, "attributes": attributes});
        }
        own.insert("id".to_owned(), id.clone());
        json!({"subject": self.subject, "attributes": attributes})
    }
}

impl Directory {
    fn new(random: &mut Rng) -> Self {
        let tenant = Tenant::new();
        let mut ids = BTreeMap::new();
        let mut entities = Vec::new();
        for (kind, entity_type) in [("resource", "record"), ("user", "user")] {
            let names = (0..ENTITIES).map(|number| match SUBJECTS.get(number) {
                Some(subject) if kind == "user" => (*subject).to_owned(),
                _ => format!("{entity_type}-{number}"),
            });
            let mut names: Vec<String> = names.collect();
            names.sort();
            entities.extend(names.iter().map(|id| {
                let properties = attributes(random, kind);
                json!({"type": entity_type, "id": id, "roles": roles(random), "properties": properties})
            }));
            ids.insert(kind, names);
        }
        tenant.manage("PUT /api/v1/entities", &json!({"entities": entities})).is(200);
        Self { tenant, ids }
    }

    /// Creates policies and rules for a verb, and returns what is shown of them when a comparison fails.
    fn allow_some(&self, random: &mut Rng, verb: &str) -> String {
        let resource = format!("record:{verb}");
        let mut shown = Vec::new();
        for number in 0..random.choice([2, 4, 8, 30]).expect("four") {
            let effect = if random.u8(0..8) == 0 { "deny" } else { "allow" };
            let priority = random.i64(0..4);
            let mut policy = json!({
                "name": format!("{verb} {number}"), "resource": resource, "effect": effect, "priority": priority,
            });
            let tree = iter::repeat_with(|| condition(random, 3, false)).take(100).find(|tree| {
                policy["rule_data"] = tree.clone();
                let status = self.tenant.manage("POST /api/v1/abac/policies", &policy).status;
                // Comparisons that never hold are refused.
                assert!(matches!(status, 201 | 400), "{status}: {tree}");
                status == 201
            });
            shown.push(format!("{effect} {priority} {}", tree.expect("a condition")));
        }
        for _ in 0..random.usize(0..3) {
            let subject = random.choice(["alice", "role-0", "role-1", "user-9"]).expect("four");
            let effect = if random.u8(0..4) == 0 { "deny" } else { "allow" };
            let rule = json!({"sub": subject, "obj": resource, "act": verb, "effect": effect});
            // The same rule may be there already.
            let status = self.tenant.manage("POST /api/v1/resources/policies", &rule).status;
            assert!(matches!(status, 201 | 409), "{status}: {rule}");
            shown.push(rule.to_string());
        }
        shown.join("\n")
    }

    /// Returns candidates of a request: entities of the directory, some with properties and roles of their own, and others.
    fn candidates(&self, random: &mut Rng, kind: &str) -> Vec<Value> {
        let known = &self.ids[kind];
        let candidate = |number: usize| {
            let known = known.get(number).filter(|_| random.u8(0..4) > 0);
            let id = known.cloned().unwrap_or_else(|| format!("new-{number}"));
            let mut candidate = Map::from_iter([("id".to_owned(), id.into())]);
            if random.bool() {
                candidate.insert("properties".to_owned(), attributes(random, kind));
            }
            if kind == "user" && random.bool() {
                candidate.insert("roles".to_owned(), roles(random));
            }
            candidate.into()
        };
        (0..ENTITIES).map(candidate).collect()
    }

    /// Compares a search with the checks of its candidates, which are the whole directory if none are given.
    fn compare(
        &self,
        question: &Question,
        given: Option<Vec<Value>>,
        rules: &str,
        tally: &mut Tally,
    ) {
        let found = self.found(question, given.as_deref());
        let counts = tally.entry((question.kind, given.is_some())).or_default();
        counts.searches += 1;
        counts.divided += usize::from((1..ENTITIES).contains(&found.len()));
        let entities = || self.ids[question.kind].iter().map(|id| json!({"id": id})).collect();
        let candidates: Vec<Value> = given.unwrap_or_else(entities);
        let mut batch = question.body();
        batch["checks"] = candidates.iter().map(|one| question.check(one)).collect();
        let checked = self.tenant.manage("POST /api/v1/checks", &batch).is(200).json();
        let checked = checked["results"].as_array().expect("results");
        assert_eq!(checked.len(), candidates.len());
        let mut found = found.iter();
        for (candidate, check) in candidates.iter().zip(checked) {
            if check["decision"] == "allow" {
                let expected = (&candidate["id"], &check["matched_rule_id"]);
                let found = found.next().map(|(id, rule)| (id, rule));
                assert_eq!(found, Some(expected), "{candidate} of {} {rules}", question.body());
            }
        }
        assert_eq!(found.next(), None, "{} {rules}", question.body());
    }

    /// Returns the ids of all pages of a search, each with the rule that allows it.
    fn found(&self, question: &Question, candidates: Option<&[Value]>) -> Vec<(Value, Value)> {
        let (route, body) = question.search(candidates);
        all_found(&self.tenant, route, body)
    }
}

fn roles(random: &mut Rng) -> Value {
    (0..3).filter(|_| random.bool()).map(|number| format!("role-{number}")).collect()
}
