//! Entities behind references, in checks, records, explanations and searches, compared with a naive walk of the same
//! declarations and entities (`docs/semantics.md`, section 12.15).

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use fastrand::Rng;
use portcullis_engine::entities::{EntityChange, EntityInput, EntityTable};
use portcullis_engine::request::{Action, AttributeMap, Attributes, Roles};
use portcullis_engine::search::{
    EntitySearch, SearchCandidate, SearchInput, SearchOutcome, Searched,
};
use portcullis_engine::types::PropertySource::{self, Directory, Request, Token};
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, DirectoryNeeds, Effect, Facts, Json, KnownEntities,
    KnownProperty, OpenQuestion, Plan, Policy, Precedence, Related, ResourcePattern, TenantFacts,
    expression, json,
};
use serde_json::{Map, Value, json as tree};
use uuid::Uuid;

/// The number of compared worlds.
const WORLDS: u32 = 50;
/// The checks of a world.
const CHECKS: usize = 25;
/// Enough comments that a property of them gets an index.
const COMMENTS: usize = 130;
const RESOURCE: &str = "comment:read";

/// Each declared property: type, name, and the type that it refers to.
const PROPERTIES: [(&str, &str, Option<&str>); 11] = [
    ("comment", "ticket", Some("ticket")),
    ("comment", "author", Some("user")),
    ("comment", "title", None),
    ("ticket", "team", None),
    ("ticket", "level", None),
    ("ticket", "owner", Some("user")),
    ("ticket", "parent", Some("ticket")),
    ("user", "team", None),
    ("user", "level", None),
    ("user", "manager", Some("user")),
    ("user", "ticket", Some("ticket")),
];
const OF_RESOURCES: [&str; 12] = [
    "title",
    "ticket",
    "author",
    "ticket.team",
    "ticket.level",
    "ticket.owner",
    "ticket.owner.team",
    "ticket.owner.manager",
    "ticket.parent.team",
    "ticket.parent.level",
    "author.level",
    "author.ticket.team",
];
const OF_USERS: [&str; 8] = [
    "team",
    "manager",
    "manager.team",
    "manager.level",
    "manager.manager.level",
    "ticket.owner.level",
    "manager.manager",
    "ticket.parent",
];

/// Declarations and entities.
struct World {
    wins: bool,
    sources: BTreeMap<(&'static str, &'static str), PropertySource>,
    entities: BTreeMap<(&'static str, String), Map<String, Value>>,
    table: EntityTable,
}

impl World {
    fn new(random: &mut Rng) -> Self {
        let mut sources = BTreeMap::new();
        for (of, name, _) in PROPERTIES {
            match random.u8(0..12) {
                0 | 1 => _ = sources.insert((of, name), Directory),
                2 => _ = sources.insert((of, name), Request),
                3 if of == "user" => _ = sources.insert((of, name), Token),
                _ => {}
            }
        }
        let mut world = Self {
            wins: random.u8(0..4) == 0,
            sources,
            entities: BTreeMap::new(),
            table: EntityTable::default(),
        };
        let mut builder = EntityTable::builder();
        for (of, count) in [("user", 5), ("ticket", 6), ("comment", COMMENTS)] {
            for number in 0..count {
                let (id, properties) = (format!("{}{number}", &of[..1]), properties(random, of));
                with_entity(of, &id, &properties, |entity| builder.push(&entity).expect("room"));
                world.entities.insert((of, id), properties);
            }
        }
        world.table = builder.finish().expect("room");
        for _ in 0..random.usize(0..4) {
            let of = random.choice(["user", "ticket", "comment"]).expect("three");
            let (id, properties) =
                (format!("{}{}", &of[..1], random.u8(0..7)), properties(random, of));
            with_entity(of, &id, &properties, |entity| {
                world.table = world.table.changed([EntityChange::Put(entity)]).expect("room");
            });
            world.entities.insert((of, id), properties);
        }
        world
    }

    fn facts(&self) -> TenantFacts {
        let of_type = |of: &'static str| {
            let known =
                PROPERTIES.iter().filter(move |(own, ..)| *own == of).map(move |(_, name, to)| {
                    let from = self.sources.get(&(of, *name)).copied();
                    ((*name).to_owned(), KnownProperty { from, to: to.map(Box::from) })
                });
            (
                of.to_owned(),
                known.filter(|(_, known)| *known != KnownProperty::default()).collect::<Vec<_>>(),
            )
        };
        let precedence = if self.wins { Precedence::Directory } else { Precedence::Request };
        TenantFacts {
            directory: Some(precedence),
            sources: ["comment", "ticket", "user"].map(of_type).into_iter().collect(),
            ..TenantFacts::default()
        }
    }

    /// Returns the value of an attribute, walked property by property. `None` is absent.
    fn value(&self, asked: &Asked, root: &'static str, name: &str) -> Option<Value> {
        let (mut of, mut entity) = match root {
            "user" => ("user", self.entities.get(&("user", asked.subject.clone()))),
            _ => ("comment", self.entities.get(&("comment", asked.id.clone()))),
        };
        let (mut prefix, mut is_settled) = (String::new(), false);
        let mut parts = name.split('.').peekable();
        loop {
            let part = parts.next()?;
            prefix += part;
            let (_, known, to) =
                PROPERTIES.iter().find(|(own, name, _)| (*own, *name) == (of, part))?;
            let source = self.sources.get(&(of, *known)).copied();
            let sent = asked.attributes[root].get(&prefix).cloned();
            let stored = entity.and_then(|entity| entity.get(part)).cloned();
            let value = match source {
                None | Some(Directory) if is_settled => stored,
                _ if is_settled => None,
                Some(Directory) => stored,
                Some(Request) => sent,
                Some(Token) if prefix == part => asked.claims.get(part).cloned(),
                Some(Token) => None,
                None if self.wins => stored.or(sent),
                None => sent.or(stored),
            };
            is_settled |= matches!(source, Some(Directory | Token));
            let value = value.filter(|value| !value.is_null());
            if parts.peek().is_none() {
                return value;
            }
            of = (*to)?;
            entity = value.and_then(|id| self.entities.get(&(of, id.as_str()?.to_owned())));
            prefix.push('.');
        }
    }

    /// Returns the attributes of a kind as the walk gives them.
    fn walked(&self, asked: &Asked, root: &'static str, names: &[&str]) -> Value {
        let values = names
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), self.value(asked, root, name)?)));
        values.collect::<Map<_, _>>().into()
    }
}

fn with_entity(
    of: &str,
    id: &str,
    properties: &Map<String, Value>,
    use_it: impl FnOnce(EntityInput<'_>),
) {
    let text = Value::from(properties.clone()).to_string();
    let json = json::parse(text.as_bytes()).expect("JSON");
    let properties = json.as_object().expect("an object");
    use_it(EntityInput { entity_type: of, id, roles: &[], domain_roles: &[], properties });
}

fn properties(random: &mut Rng, of: &str) -> Map<String, Value> {
    let mut some = Map::new();
    for (_, name, to) in PROPERTIES.iter().filter(|(own, ..)| *own == of) {
        if random.u8(0..6) > 0 {
            some.insert((*name).to_owned(), value(random, name, *to));
        }
    }
    some
}

/// Returns a value of a property: some references lead nowhere, and some are of another type.
fn value(random: &mut Rng, name: &str, to: Option<&str>) -> Value {
    match (to, random.u8(0..12)) {
        (_, 0) => tree!(7),
        (_, 1) => tree!(["t1", "u1", "a"]),
        (Some(to), _) => format!("{}{}", &to[..1], random.u8(0..7)).into(),
        (None, _) if name == "level" => tree!(random.u8(0..4)),
        (None, _) => random.choice(["a", "b", "c"]).expect("three").into(),
    }
}

/// The property at the end of a name.
fn end(root: &str, name: &str) -> (&'static str, Option<&'static str>) {
    let mut of = if root == "user" { "user" } else { "comment" };
    let mut found = ("", None);
    for part in name.split('.') {
        let (_, known, to) =
            PROPERTIES.iter().find(|(own, name, _)| (*own, *name) == (of, part)).expect("declared");
        (found, of) = ((*known, *to), to.unwrap_or_default());
    }
    found
}

/// A question.
struct Asked {
    subject: String,
    id: String,
    attributes: Value,
    claims: Value,
}

impl Asked {
    fn new(random: &mut Rng) -> Self {
        let mut sent = |root: &str, names: &[&str]| {
            let mut all = Map::new();
            for name in names.iter().filter(|_| random.u8(0..4) == 0).collect::<Vec<_>>() {
                let (property, to) = end(root, name);
                let value =
                    if random.u8(0..5) == 0 { Value::Null } else { value(random, property, to) };
                all.insert((*name).to_owned(), value);
            }
            Value::from(all)
        };
        let attributes =
            tree!({"user": sent("user", &OF_USERS), "resource": sent("resource", &OF_RESOURCES)});
        let claims = tree!({"team": "b", "level": 2, "manager": "u3", "ticket": "t2"});
        Self {
            subject: format!("u{}", random.u8(0..6)),
            id: format!("c{}", random.u8(0..6)),
            attributes,
            claims,
        }
    }

    /// Calls `use_it` with the check of these attributes.
    fn check<T>(&self, attributes: &Value, use_it: impl FnOnce(Check<'_>) -> T) -> T {
        let mut attributes = attributes.clone();
        attributes["resource"]["id"] = self.id.clone().into();
        let [text, claims] = [attributes.to_string(), self.claims.to_string()];
        let [attributes, claims] =
            [&text, &claims].map(|text| json::parse(text.as_bytes()).expect("JSON"));
        let map = |kind| AttributeMap::from_members(members(&attributes, kind));
        let attributes =
            Attributes { user: map("user"), resource: map("resource"), ..Attributes::default() };
        let body = CheckBody {
            expected: None,
            subject: &self.subject,
            subject_type: None,
            resource: RESOURCE,
            action: Action::Plain("read"),
            domain: None,
            attributes,
        };
        let check = Check::new(body, "acme", None, chrono::DateTime::UNIX_EPOCH);
        use_it(Check { roles: Roles::Claimed(&[]), claims: Some(&claims), ..check })
    }
}

fn members<'j>(json: &'j Json<'j>, kind: &str) -> &'j [json::Member<'j>] {
    let mut all = json.as_object().expect("an object").iter();
    all.find(|(own, _)| own == kind).and_then(|(_, value)| value.as_object()).unwrap_or_default()
}

/// The live directory.
struct Live<'w>(&'w EntityTable);

impl Facts for Live<'_> {
    type Work = ();
    type Fault = Infallible;

    fn entities(&self) -> Option<&EntityTable> {
        Some(self.0)
    }

    fn known(&self, sent: &Check<'_>, needs: DirectoryNeeds) -> KnownEntities<'_> {
        KnownEntities::find(self.0, sent, needs)
    }

    fn related(
        &self,
        _: &TenantFacts,
        _: &Check<'_>,
        _: &[Box<str>],
        (): &mut (),
    ) -> Result<Related, Infallible> {
        Ok(Related::Unasked)
    }
}

fn condition(random: &mut Rng) -> String {
    let path = |random: &mut Rng| match random.bool() {
        true => format!("user.{}", random.choice(OF_USERS).expect("some")),
        false => format!("resource.{}", random.choice(OF_RESOURCES).expect("some")),
    };
    let (left, right) = (path(random), path(random));
    let test = match random.u8(0..7) {
        0 => format!("{left} == {right}"),
        1 => format!("exists({left})"),
        2 => format!("{left} >= 2"),
        3 => format!("{left} in ['a', 't1', 'u2']"),
        4 => format!("{left} starts_with 't'"),
        _ => format!("{left} == '{}'", random.choice(["a", "b", "t1", "u2", "u3"]).expect("five")),
    };
    match random.u8(0..5) {
        0 => format!("!({test})"),
        1 => format!("({test}) && ({})", condition(random)),
        2 => format!("({test}) || ({})", condition(random)),
        _ => test,
    }
}

fn policies(random: &mut Rng) -> (Vec<Policy>, String) {
    let mut texts = String::new();
    let policies = (1..=random.u128(1..4)).map(|id| {
        let effect = if random.u8(0..4) == 0 { Effect::Deny } else { Effect::Allow };
        let text = condition(random);
        texts += &format!("{effect:?} {text}\n");
        let condition = Ok(expression::parse(&text).expect("an expression"));
        let (id, resource) = (Uuid::from_u128(id), ResourcePattern::Any);
        Policy { id, name: id.to_string(), resource, effect, priority: 0, condition }
    });
    (policies.collect(), texts)
}

/// Counts of each thing that must be compared.
#[derive(Debug, Default)]
struct Tally {
    allowed: usize,
    denied: usize,
    followed: usize,
    twice: usize,
    overridden: usize,
    found: usize,
    skipped: usize,
}

#[test]
fn what_is_behind_references_decides_as_a_naive_walk_does() {
    let mut random = Rng::with_seed(47);
    let mut tally = Tally::default();
    for _ in 0..WORLDS * crate::effort::factor() {
        let world = World::new(&mut random);
        for _ in 0..CHECKS {
            let (policies, texts) = policies(&mut random);
            let plain = Plan::compile(RESOURCE, 1, &[], policies.clone());
            let plan = plain.clone().with_facts(Arc::new(world.facts()));
            let asked = Asked::new(&mut random);
            compare(&world, (&plan, &plain), &asked, &texts, &mut tally);
            search(&world, (&plan, &plain), (&asked, &mut random), &texts, &mut tally);
        }
    }
    println!("{tally:?}");
    let Tally { allowed, denied, followed, twice, overridden, found, skipped } = tally;
    for count in [allowed, denied, followed, twice, overridden, found, skipped] {
        assert!(count > 100, "{tally:?}");
    }
}

/// Compares a check, and what its record and its explanation say, with the walk.
fn compare(
    world: &World,
    (plan, plain): (&Plan, &Plan),
    asked: &Asked,
    texts: &str,
    tally: &mut Tally,
) {
    let walked = tree!({
        "user": world.walked(asked, "user", &OF_USERS),
        "resource": world.walked(asked, "resource", &OF_RESOURCES),
    });
    let about = || {
        format!(
            "{texts}{} {:?} wins {} sent {}",
            asked.id, world.sources, world.wins, asked.attributes
        )
    };
    let expected = asked.check(&walked, |check| {
        let decision = plain.evaluate(&check);
        (decision.effect(), decision.matched_rule_id().to_string())
    });
    asked.check(&asked.attributes, |sent| {
        let live = Live(&world.table);
        let question = OpenQuestion::combined(plan, &live, sent);
        let decided = question.settle();
        assert_eq!(
            (decided.effect(), decided.matched_rule_id().to_string()),
            expected,
            "{}",
            about()
        );
        match expected.0 {
            Effect::Allow => tally.allowed += 1,
            Effect::Deny => tally.denied += 1,
        }
        let completed = question.completed();
        let answers = AttributeAnswers::default();
        let explanation = plan.explain(&completed, &answers, None);
        for one in &explanation.attributes {
            let (root, name) = one.attribute.split_once('.').expect("a path");
            let value = one.value.as_ref().map(|value| value.to_string());
            let walked = walked[root].get(name).map(Value::to_string);
            assert_eq!(value, walked, "{} of {}", one.attribute, about());
            tally.overridden += usize::from(one.overridden && name.contains('.'));
            if one.source != "directory" || !name.contains('.') || value.is_none() {
                continue;
            }
            // The way begins at the last reference that the request sent.
            let (_, first) = one.via[0].attribute.split_once('.').expect("a path");
            let (all, skipped) = (name.matches('.').count(), first.matches('.').count());
            assert_eq!(one.via.len(), all - skipped, "{}", one.attribute);
            assert!(skipped == 0 || asked.attributes[root].get(first).is_some(), "{first}");
            let last = one.via.last().expect("a reference");
            let (of, id) = last.entity.split_once(':').expect("an entity");
            let (of, property) = (
                PROPERTIES.iter().find(|(own, ..)| *own == of).expect("known").0,
                name.rsplit('.').next(),
            );
            assert_eq!(last.value, id);
            assert_eq!(
                world.entities[&(of, id.to_owned())][property.expect("one")].to_string(),
                value.expect("some")
            );
            tally.followed += 1;
            tally.twice += usize::from(one.via.len() == 2);
        }
        replay(plan, &sent, &completed, expected.0, &about());
    });
}

/// Decides the check again from what a record of it has.
fn replay(plan: &Plan, sent: &Check<'_>, completed: &Check<'_>, expected: Effect, about: &str) {
    let mut builder = EntityTable::builder();
    for (kind, map) in
        [("user", completed.attributes.user), ("resource", completed.attributes.resource)]
    {
        let supplied = map.from_directory().filter(|(name, _)| plan.reads(kind, name));
        let mut all: Map<String, Value> =
            supplied.map(|(name, value)| (name.to_owned(), from_json(&value.to_json()))).collect();
        all.extend(map.followed_in_directory().map(|(name, id)| (name, id.into())));
        with_entity(kind, "1", &all, |entity| builder.push(&entity).expect("room"));
    }
    let table = builder.finish().expect("room");
    let known = KnownEntities {
        subject: table.get("user", "1"),
        resource: table.get("resource", "1"),
        roles: None,
    };
    let again = OpenQuestion::combined(plan, &known, *sent).settle();
    assert_eq!(again.effect(), expected, "replayed: {about}");
}

fn from_json(json: &Json<'_>) -> Value {
    serde_json::from_str(&json.to_string()).expect("JSON")
}

/// Compares a search for comments with checks of each.
fn search(
    world: &World,
    (plan, plain): (&Plan, &Plan),
    (asked, random): (&Asked, &mut Rng),
    texts: &str,
    tally: &mut Tally,
) {
    let shared = if random.bool() { tree!({}) } else { asked.attributes["resource"].clone() };
    let is_given = random.u8(0..4) == 0;
    let common = tree!({"user": asked.attributes["user"], "resource": shared});
    let given = Asked::new(random).attributes["resource"].as_object().cloned().unwrap_or_default();
    let given: Value =
        given.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>().into();
    asked.check(&common, |sent| {
        let live = Live(&world.table);
        let question = OpenQuestion::combined(plan, &live, sent);
        let mut completed = question.completed();
        completed.attributes.resource = sent.attributes.resource;
        let entities = Some(&world.table);
        let input =
            SearchInput { check: &completed, searched: Searched::Resource, entities, is_given };
        let search = EntitySearch::new(plan, input);
        let text = given.to_string();
        let json = json::parse(text.as_bytes()).expect("JSON");
        let mut visited = BTreeSet::new();
        let candidates: Vec<_> = match is_given {
            true => world.table.for_type("comment", None).collect(),
            false => search.entities(&world.table, "comment", None, &[]).collect(),
        };
        let expected = |id: &str| {
            let mut resource = common["resource"].as_object().cloned().unwrap_or_default();
            if is_given {
                resource.extend(given.as_object().cloned().unwrap_or_default());
            }
            let one = Asked {
                id: id.to_owned(),
                attributes: tree!({"user": asked.attributes["user"], "resource": resource}),
                subject: asked.subject.clone(),
                claims: asked.claims.clone(),
            };
            let walked = tree!({
                "user": world.walked(&one, "user", &OF_USERS),
                "resource": world.walked(&one, "resource", &OF_RESOURCES),
            });
            one.check(&walked, |check| plain.evaluate(&check).effect())
        };
        for entity in candidates {
            let given = match is_given {
                true => AttributeMap::from_members(json.as_object().expect("an object")),
                false => AttributeMap::default(),
            };
            let candidate = SearchCandidate {
                given,
                ..SearchCandidate::for_resource(entity.id(), entity.properties())
            };
            let is_allowed = matches!(search.decide(&candidate), SearchOutcome::Allowed(_));
            let about = || {
                format!(
                    "{texts}{entity:?} {:?} wins {} shared {common} given {given:?}",
                    world.sources, world.wins
                )
            };
            assert_eq!(is_allowed, expected(entity.id()) == Effect::Allow, "{}", about());
            tally.found += usize::from(is_allowed);
            visited.insert(entity.id());
        }
        for (_, id) in
            world.entities.keys().filter(|(of, id)| *of == "comment" && !visited.contains(&**id))
        {
            assert_eq!(expected(id), Effect::Deny, "{id} is left out: {texts}");
            tally.skipped += 1;
        }
    });
}
