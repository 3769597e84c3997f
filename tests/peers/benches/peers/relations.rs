//! A drive as one policy of Cedar over a hierarchy of entities, in simple-zanzibar, and as one rule on a relation.
//!
//! Cedar gets the closure of its hierarchy when it loads, so that a request looks ancestors up. Each folder and document has
//! a list of viewers, whose members are users, groups, and the list of the folder that it is in.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid,
    PolicySet, Request, RestrictedExpression,
};
use chrono::DateTime;
use fastrand::Rng;
use portcullis_directory::{Graph, resource_of};
use portcullis_engine::json::Json;
use portcullis_engine::relation::RELATION;
use portcullis_engine::request::{AttributeMap, Attributes};
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, Effect, Plan, ResourcePattern, Rule, RuleTuple,
    TenantFacts, Verdict,
};
use portcullis_workloads::measure::{Variant, compare};
use portcullis_workloads::report::{Bar, Group};
use uuid::Uuid;

use crate::drive::{TYPES, Thing, Tuples, schema};
use crate::zanzibar::Zanzibar;

const USER: usize = 0;
const GROUP: usize = 1;
const FOLDER: usize = 2;
const DOCUMENT: usize = 3;
const NAMES: [&str; 4] = ["user", "group", "folder", "document"];
/// The requests that are timed.
const REQUESTS: usize = 512;
const CLOSURE_BYTES: usize = 16 << 20;
const RESOURCE: &str = "document:read";

pub(crate) fn relations(group: &mut Group<'_>) -> Result<()> {
    for size in [50, 1_000] {
        let tuples = drive(size)?;
        let random = &mut Rng::with_seed(7);
        let draw = |_| (random.usize(..size), random.usize(..size));
        let questions: Vec<(usize, usize)> = (0..REQUESTS).map(draw).collect();
        let (ours, cedar) = (Ours::load(&tuples)?, Cedar::load(&tuples)?);
        let right: Vec<bool> = questions
            .iter()
            .map(|question| cedar.allows(&tuples, *question))
            .collect::<Result<_>>()?;
        let zanzibar = Zanzibar::load(&tuples)?;
        let by_zanzibar = |n: usize| {
            let (user, document) = questions[n];
            zanzibar.allows(&tuples.ids[USER][user], &tuples.ids[DOCUMENT][document])
        };
        let samples = compare(vec![
            Variant::checked("ours", right.clone(), |n| ours.allows(&tuples, questions[n]))?,
            Variant::checked("Cedar", right.clone(), |n| cedar.allows(&tuples, questions[n]))?,
            Variant::checked("simple-zanzibar", right.clone(), by_zanzibar)?,
        ]);
        let allowed = right.iter().filter(|allowed| **allowed).count();
        let name = format!("{size} users and documents, {allowed} of {REQUESTS} allowed");
        group.times(&name, &samples);
        for (peer, least) in [(1, 10.0), (2, 5.0)] {
            let (ratio, who) = (samples[peer].ratio(&samples[0]), &samples[peer].name);
            group.measurement(format!("{name}: {who} / ours"), ratio, "", Bar::AtLeast(least));
        }
    }
    Ok(())
}

/// Makes a drive of `size` users and as many documents, with folders five deep and groups three deep.
fn drive(size: usize) -> Result<Tuples> {
    let random = &mut Rng::with_seed(3);
    let (groups, folders) = (size / 5, size / 2);
    let counts = [size, groups, folders, size];
    let ids = NAMES.into_iter().zip(counts);
    let ids = ids.map(|(name, count)| (0..count).map(|n| format!("{name}-{n}")).collect());
    let mut tuples = Tuples::new(schema(TYPES)?, &NAMES, ids.collect());
    for user in 0..size {
        tuples.add((GROUP, random.usize(..groups)), "member", (USER, user), None)?;
    }
    for one in 1..groups {
        tuples.add((GROUP, one / 4), "member", (GROUP, one), Some("member"))?;
    }
    for folder in 0..folders {
        if folder > 0 {
            tuples.add((FOLDER, folder), "parent", (FOLDER, folder / 4), None)?;
        }
        tuples.add((FOLDER, folder), "owner", (USER, random.usize(..size)), None)?;
        let viewers = (GROUP, random.usize(groups / 2..groups));
        tuples.add((FOLDER, folder), "viewer", viewers, Some("member"))?;
    }
    for document in 0..size {
        let above = random.usize(folders / 2..folders);
        tuples.add((DOCUMENT, document), "parent", (FOLDER, above), None)?;
        tuples.add((DOCUMENT, document), "editor", (USER, random.usize(..size)), None)?;
        tuples.add((DOCUMENT, document), "viewer", (USER, random.usize(..size)), None)?;
    }
    Ok(tuples)
}

/// The engine of Portcullis with one rule: who is a viewer of the document may read it.
struct Ours {
    plan: Plan,
    graph: Graph,
}

impl Ours {
    fn load(tuples: &Tuples) -> Result<Self> {
        let facts = TenantFacts { relations: Some("drive".into()), ..TenantFacts::default() };
        let tuple = RuleTuple {
            sub: "viewer@resource".to_owned(),
            dom: "*".to_owned(),
            obj: ResourcePattern::Exact(RESOURCE.to_owned()),
            act: "read".to_owned(),
        };
        let rule = Rule { id: Uuid::from_u128(1), tuple, effect: Effect::Allow };
        let plan = Plan::compile_with(RESOURCE, 1, &[rule], [], Arc::new(facts), |_| None);
        let schema = Arc::clone(&tuples.schema);
        let graph = Graph::new(schema, tuples.table()?, CLOSURE_BYTES);
        Ok(Self { plan, graph })
    }

    fn allows(&self, tuples: &Tuples, (user, document): (usize, usize)) -> Result<bool> {
        let sent = [("id".into(), Json::String((&*tuples.ids[DOCUMENT][document]).into()))];
        let resource = AttributeMap::from_members(&sent);
        let body = CheckBody {
            subject: &tuples.ids[USER][user],
            subject_type: None,
            resource: RESOURCE,
            action: "read",
            domain: None,
            attributes: Attributes { resource, ..Attributes::default() },
            expected: None,
        };
        let check = Check::new(body, "drive", None, DateTime::UNIX_EPOCH);
        let decision = match self.plan.decide(&check, &AttributeAnswers::default()) {
            Verdict::Decided(decision) => decision,
            Verdict::NeedsAttributes(requests) => {
                let asked = requests.iter().find(|request| *request.namespace == *RELATION);
                let names = &asked.context("a relation is asked")?.attributes;
                let facts = self.plan.facts().context("the tenant has relations")?;
                let answers = self.graph.answers(facts, (&check, resource_of(&check)), names);
                self.plan.evaluate_with(&check, &answers)
            }
        };
        Ok(decision.effect() == Effect::Allow)
    }
}

/// Cedar with one policy.
struct Cedar {
    authorizer: Authorizer,
    entities: Entities,
    policies: PolicySet,
    types: [EntityTypeName; 4],
    action: EntityUid,
}

impl Cedar {
    fn load(tuples: &Tuples) -> Result<Self> {
        let types = [named("user")?, named("group")?, named("folder")?, named("document")?];
        let viewers = named("viewers")?;
        let uid = |(of, id): Thing| uid(&types[of], &tuples.ids[of][id]);
        let list_of = |thing: Thing| {
            let [name, id] = [NAMES[thing.0], &*tuples.ids[thing.0][thing.1]];
            self::uid(&viewers, &format!("{name} {id}"))
        };
        // A member is a child of its group, and a viewer of the list of viewers.
        let mut parents: HashMap<EntityUid, HashSet<EntityUid>> = HashMap::new();
        let things = NAMES
            .iter()
            .enumerate()
            .flat_map(|(of, _)| (0..tuples.ids[of].len()).map(move |id| (of, id)));
        for thing in things {
            parents.entry(uid(thing)).or_default();
            parents.entry(list_of(thing)).or_default();
        }
        for (object, relation, subject, _) in &tuples.list {
            let is =
                |name: &str| tuples.number(object.0, name).is_ok_and(|number| number == *relation);
            let (child, parent) = match object.0 {
                GROUP => (uid(*subject), uid(*object)),
                // Who sees the folder sees what is in it.
                _ if is("parent") => (list_of(*subject), list_of(*object)),
                _ => (uid(*subject), list_of(*object)),
            };
            parents.entry(child).or_default().insert(parent);
        }
        let attributes: HashMap<EntityUid, EntityUid> = (0..tuples.ids[DOCUMENT].len())
            .map(|id| (uid((DOCUMENT, id)), list_of((DOCUMENT, id))))
            .collect();
        let entities = parents.into_iter().map(|(uid, parents)| {
            let own = attributes.get(&uid).cloned();
            let own =
                own.map(|list| ("viewers".to_owned(), RestrictedExpression::new_entity_uid(list)));
            Ok(Entity::new(uid, own.into_iter().collect(), parents)?)
        });
        let entities = entities.collect::<Result<Vec<_>>>()?;
        Ok(Self {
            authorizer: Authorizer::new(),
            entities: Entities::from_entities(entities, None)?,
            policies: "permit(principal, action, resource) when { principal in resource.viewers };"
                .parse()?,
            action: self::uid(&named("Action")?, "read"),
            types,
        })
    }

    fn allows(&self, tuples: &Tuples, (user, document): (usize, usize)) -> Result<bool> {
        let principal = uid(&self.types[USER], &tuples.ids[USER][user]);
        let resource = uid(&self.types[DOCUMENT], &tuples.ids[DOCUMENT][document]);
        let request =
            Request::new(principal, self.action.clone(), resource, Context::empty(), None)?;
        let answer = self.authorizer.is_authorized(&request, &self.policies, &self.entities);
        Ok(answer.decision() == Decision::Allow)
    }
}

fn named(name: &str) -> Result<EntityTypeName> {
    Ok(name.parse()?)
}

fn uid(of: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(of.clone(), EntityId::new(id))
}
