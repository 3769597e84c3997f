//! A search finds exactly what checks allow where relations decide: random types, tuples, entities, rules and policies; each
//! candidate, which entities or tuples know, is compared with a check of it.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::{Value, json};

use crate::everywhere::search::pages::all_found;
use crate::support::Tenant;

/// The number of compared candidates, by default and in the long test.
const CASES: usize = 6_000;
const MANY_CASES: usize = 300_000;
/// The searches that one tenant serves, each with its own rules.
const PLANS: usize = 6;
const TUPLES: usize = 150;

/// The lines of one relation, of which each tenant has one.
const VIEWER: [&str; 3] = [
    "[user, robot, group#member, user:*] || editor || parent.viewer",
    "[user, robot, user:*] || editor || parent.viewer && !parent.banned",
    "[user, group#member] || editor && parent.viewer",
];
const SUBJECTS: [&str; 6] =
    ["viewer@resource", "editor@resource", "group:g1#member", "u3", "role-0", "*"];
const CONDITIONS: [&str; 8] = [
    "relation.viewer == true",
    r#"relation.viewer == true && resource.state == "draft""#,
    "relation.editor == true || resource.owner == request.subject",
    "!(relation.editor == true) && relation.viewer == true",
    r#"relation["group:g2#member"] == true && relation.viewer == true"#,
    "(relation.viewer == true) ?? true",
    "user.level >= 2 && relation.editor != false",
    r#"resource.state == "draft" && !(relation["group:g1#member"] == true)"#,
];

#[test]
fn a_search_of_relations_decides_as_checks_do() {
    compare(CASES, 3);
}

#[test]
#[ignore = "a soak: `.ci/long` runs it"]
fn a_search_of_relations_decides_as_hundreds_of_thousands_of_checks_do() {
    compare(MANY_CASES, 4);
}

fn compare(cases: usize, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let (mut compared, mut divided, mut searches) = (0, 0, 0);
    while compared < cases {
        let world = World::new(&mut random);
        for number in 0..PLANS {
            let verb = format!("act{number}");
            let rules = world.allow_some(&mut random, &verb);
            for (kind, subjects) in [("document", false), ("user", true), ("robot", true)] {
                let question = world.question(&mut random, &verb, kind, subjects);
                let (candidates, found) = world.compare(&question, &rules);
                (compared, searches) = (compared + candidates, searches + 1);
                divided += usize::from(found > 0 && found < candidates);
            }
        }
    }
    println!("{compared} candidates of {searches} searches, of which {divided} found a part");
    assert!(divided * 4 >= searches, "{divided} of {searches}");
}

/// A tenant, and the ids that it knows by type.
struct World {
    tenant: Tenant<'static>,
    known: BTreeMap<&'static str, BTreeSet<String>>,
}

/// A search, and what the checks of its candidates share.
struct Question {
    verb: String,
    kind: &'static str,
    is_of_subjects: bool,
    subject: String,
    resource: Value,
    user: Value,
    limit: usize,
}

impl Question {
    /// Returns the body that the search and its checks share.
    fn shared(&self) -> Value {
        let attributes = json!({"resource": self.resource, "user": self.user});
        json!({"resource": format!("document:{}", self.verb), "action": self.verb, "attributes": attributes})
    }

    fn check(&self, id: &str) -> Value {
        if self.is_of_subjects {
            let subject =
                if self.kind == "user" { id.to_owned() } else { format!("{}:{id}", self.kind) };
            return json!({"subject": subject});
        }
        let mut attributes = self.shared()["attributes"].take();
        attributes["resource"]["id"] = id.into();
        json!({"subject": self.subject, "attributes": attributes})
    }
}

fn id(random: &mut Rng, kind: &str) -> String {
    let (letter, count) = match kind {
        "user" => ("u", 20),
        "robot" => ("r", 6),
        "group" => ("g", 5),
        "folder" => ("f", 6),
        _ => ("d", 30),
    };
    // A name that reads as another one.
    if kind == "user" && random.u8(..20) == 0 {
        return "robot:r1".to_owned();
    }
    format!("{letter}{}", random.usize(..count))
}

/// Draws a tuple that the types allow.
fn tuple(random: &mut Rng, viewer: &str) -> Value {
    let of = |random: &mut Rng, kind: &str| format!("{kind}:{}", id(random, kind));
    let (object, relation) = random
        .choice([
            ("group", "member"),
            ("folder", "parent"),
            ("folder", "viewer"),
            ("folder", "banned"),
            ("document", "parent"),
            ("document", "editor"),
            ("document", "viewer"),
        ])
        .expect("some");
    let mut tuple = json!({"object": of(random, object), "relation": relation});
    let stored = match (object, relation) {
        (_, "parent") => &["folder"][..],
        ("document", "viewer") if viewer.contains("robot") => &["user", "robot"],
        (_, "member") => &["user", "robot", "group"],
        ("folder", "viewer") | (_, "editor") => &["user", "group"],
        _ => &["user"],
    };
    let kind = *random.choice(stored).expect("some");
    tuple["subject"] = of(random, kind).into();
    if kind == "group" {
        tuple["subject_relation"] = "member".into();
    }
    if (object, kind) == ("folder", "user") && relation == "viewer" && random.u8(..8) == 0 {
        tuple["subject"] = "user:*".into();
    }
    match random.u8(..6) {
        0 => tuple["expires_at"] = "2020-01-01T00:00:00Z".into(),
        1 => tuple["expires_at"] = "2100-01-01T00:00:00Z".into(),
        _ => {}
    }
    tuple
}

impl World {
    fn new(random: &mut Rng) -> Self {
        let tenant = Tenant::new();
        let viewer = random.choice(VIEWER).expect("some");
        let types = [
            ("robot", json!({})),
            ("group", json!({"member": "[user, robot, group#member]"})),
            (
                "folder",
                json!({"parent": "[folder]", "banned": "[user] || parent.banned",
                "viewer": "[user, user:*, group#member] || parent.viewer"}),
            ),
            (
                "document",
                json!({"parent": {"from": "[folder]", "request": "parent"},
                "editor": "[user, group#member]", "viewer": viewer}),
            ),
        ];
        for (name, relations) in types {
            let path = format!("PUT /api/v1/types/{name}");
            tenant.manage(&path, &json!({"relations": relations})).is(201);
        }
        let mut known: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut tuples: BTreeMap<String, Value> = BTreeMap::new();
        for _ in 0..TUPLES {
            let mut one = tuple(random, viewer);
            let expires = one.as_object_mut().expect("an object").remove("expires_at");
            let key = one.to_string();
            if let Some(expires) = expires {
                one["expires_at"] = expires;
            }
            tuples.insert(key, one);
        }
        for tuple in tuples.values().filter(|tuple| tuple["expires_at"] != "2020-01-01T00:00:00Z") {
            for side in ["object", "subject"] {
                let (kind, id) =
                    tuple[side].as_str().expect("a text").split_once(':').expect("a name");
                let kind = ["user", "robot", "document"].into_iter().find(|known| *known == kind);
                if let Some(kind) = kind.filter(|_| id != "*") {
                    known.entry(kind).or_default().insert(id.to_owned());
                }
            }
        }
        let write: Vec<Value> = tuples.into_values().collect();
        tenant.manage("POST /api/v1/relations", &json!({"write": write})).is(200);
        let mut entities = BTreeMap::new();
        for _ in 0..40 {
            let kind = random.choice(["user", "robot", "document", "document"]).expect("some");
            let properties = json!({
                "state": random.choice(["draft", "final"]), "owner": id(random, "user"), "level": random.u8(..4),
            });
            let roles: &[&str] =
                if random.bool() && kind != "document" { &["role-0"] } else { &[] };
            let id = id(random, kind);
            // No entity may have a name that reads as another one.
            if !id.contains(':') {
                known.entry(kind).or_default().insert(id.clone());
                let entity =
                    json!({"type": kind, "id": id, "roles": roles, "properties": properties});
                entities.insert((kind, id), entity);
            }
        }
        let entities: Vec<Value> = entities.into_values().collect();
        tenant.manage("PUT /api/v1/entities", &json!({"entities": entities})).is(200);
        Self { tenant, known }
    }

    /// Creates policies and rules for a verb, and returns what is shown of them when a comparison fails.
    fn allow_some(&self, random: &mut Rng, verb: &str) -> String {
        let resource = format!("document:{verb}");
        let effect = |random: &mut Rng| if random.u8(..5) == 0 { "deny" } else { "allow" };
        let mut shown = Vec::new();
        for number in 0..random.usize(..3) {
            let policy = json!({
                "name": format!("{verb} {number}"), "resource": resource, "effect": effect(random),
                "priority": random.u8(..3), "format": "expression",
                "rule_data": {"expression": random.choice(CONDITIONS)},
            });
            self.tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
            shown.push(policy.to_string());
        }
        let count = random.usize(..3);
        for subject in random.choose_multiple(SUBJECTS, count.max(usize::from(shown.is_empty()))) {
            // Who may do everything makes searches dull.
            let effect = if subject == "*" { "deny" } else { effect(random) };
            if subject != "*" || random.u8(..4) == 0 {
                self.tenant.rule(subject, &resource, verb, effect);
                shown.push(format!("{effect} {subject}"));
            }
        }
        shown.join("\n")
    }

    fn question(
        &self,
        random: &mut Rng,
        verb: &str,
        kind: &'static str,
        is_of_subjects: bool,
    ) -> Question {
        let mut resource = json!({});
        if is_of_subjects && random.u8(..8) > 0 {
            resource["id"] = id(random, "document").into();
        }
        if random.u8(..4) == 0 {
            let parent = format!("folder:{}", id(random, "folder"));
            resource["parent"] =
                random.choice([json!(parent), json!([]), json!("f1")]).expect("some");
        }
        let mut user = json!({});
        if random.bool() {
            user["level"] = random.u8(..4).into();
        }
        let subject = if random.u8(..4) == 0 {
            format!("robot:{}", id(random, "robot"))
        } else {
            id(random, "user")
        };
        let limit = random.choice([1_000, 7, 3]).expect("some");
        Question { verb: verb.to_owned(), kind, is_of_subjects, subject, resource, user, limit }
    }

    /// Compares a search with the checks of all that the tenant knows. Returns the number of candidates, and of those found.
    fn compare(&self, question: &Question, rules: &str) -> (usize, usize) {
        let none = BTreeSet::new();
        let known = self.known.get(question.kind).unwrap_or(&none);
        let found = self.found(question);
        if known.is_empty() {
            assert!(found.is_empty());
            return (0, 0);
        }
        let mut batch = question.shared();
        batch["checks"] = known.iter().map(|id| question.check(id)).collect();
        let checked = self.tenant.manage("POST /api/v1/checks", &batch).is(200).json();
        let checked = checked["results"].as_array().expect("results");
        let allowed = known.iter().zip(checked).filter(|(_, check)| check["decision"] == "allow");
        let expected = allowed.map(|(id, check)| (json!(id), check["matched_rule_id"].clone()));
        let expected: Vec<(Value, Value)> = expected.collect();
        assert_eq!(
            found,
            expected,
            "{} of {} {}\n{rules}",
            question.kind,
            question.subject,
            question.shared()
        );
        (known.len(), found.len())
    }

    /// Returns the ids of all pages of a search, each with the rule that allows it.
    fn found(&self, question: &Question) -> Vec<(Value, Value)> {
        let mut body = question.shared();
        body["limit"] = question.limit.into();
        let route = if question.is_of_subjects {
            body["type"] = question.kind.into();
            "POST /api/v1/search/subjects"
        } else {
            body["subject"] = question.subject.clone().into();
            "POST /api/v1/search/resources"
        };
        all_found(&self.tenant, route, body)
    }
}
