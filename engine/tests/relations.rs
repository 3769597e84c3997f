//! Compares every evaluator with an oracle on random policies and rules that name relations: decisions with all answers and
//! in stages, explanations, legacy checks, searches, filters, matrices, changed plans, and plans that share.

use std::convert::Infallible;
use std::sync::Arc;

use fastrand::Rng;
use portcullis_engine::entities::{EntityInput, EntityTable};
use portcullis_engine::filter::RowAttributes;
use portcullis_engine::matrix::{MatrixCell, Outcome, PlanMatrix, Residual};
use portcullis_engine::relation::RELATION;
use portcullis_engine::request::{Action, Attributes};
use portcullis_engine::search::{
    EntitySearch, SearchCandidate, SearchInput, SearchOutcome, Searched,
};
use portcullis_engine::{
    AttributeAnswer, AttributeAnswers, Check, CheckBody, CheckKind, Condition, DirectoryNeeds,
    Effect, Json, Judged, KnownEntities, OpenQuestion, Plan, PlanChanges, Policy, Related,
    ResourcePattern, Rule, RuleTuple, TenantFacts, Verdict, expression, json,
};
use serde_json::json as tree;
use uuid::Uuid;

const CASES: u64 = 4_000;
const RESOURCE: &str = "doc:read";
const SUBJECTS: [&str; 6] =
    ["ann", "nurse", "*", "editor@resource", "viewer@resource", "group:eng#member"];
const RELATIONS: [&str; 3] = ["editor", "viewer", "group:eng#member"];
const OWNERS: [&str; 2] = ["ann", "bob"];

/// The value of a relation of [`RELATIONS`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Is(bool),
    Absent,
    Failed,
}

const VALUES: [Value; 4] = [Value::Is(true), Value::Is(false), Value::Absent, Value::Failed];

/// The facts on which a decision depends.
#[derive(Clone, Copy, Debug)]
struct Facts<'f> {
    roles: &'f [String],
    domain: &'f str,
    owner: &'f str,
    relations: [Value; 3],
}

impl Facts<'_> {
    fn truth(&self, relation: usize) -> Option<bool> {
        match self.relations[relation] {
            Value::Is(value) => Some(value),
            Value::Absent | Value::Failed => None,
        }
    }

    fn answers(&self) -> AttributeAnswers {
        let mut answers = AttributeAnswers::default();
        RELATIONS.iter().for_each(|name| self.answer(name, &mut answers));
        answers
    }

    fn answer(&self, name: &str, answers: &mut AttributeAnswers) {
        let at = RELATIONS.iter().position(|known| *known == name).expect("a relation");
        let answer = match self.relations[at] {
            Value::Is(value) => AttributeAnswer::Value(Json::Bool(value)),
            Value::Absent => AttributeAnswer::Absent,
            Value::Failed => AttributeAnswer::Failed("too much work".into()),
        };
        answers.insert(RELATION, name, answer);
    }
}

/// The truth of a condition.
type Meaning = fn(&Facts<'_>) -> Option<bool>;

/// Conditions with their meaning.
const CONDITIONS: [(&str, Meaning); 6] = [
    ("relation.editor == true", |facts| facts.truth(0)),
    ("!(relation.viewer == true)", |facts| facts.truth(1).map(|value| !value)),
    (
        r#"relation["group:eng#member"] == true && resource.owner == request.subject"#,
        |facts| match (facts.truth(2), facts.owner == "ann") {
            (Some(false), _) | (_, false) => Some(false),
            (truth, true) => truth,
        },
    ),
    ("resource.owner == request.subject", |facts| Some(facts.owner == "ann")),
    ("(relation.viewer == true) ?? true", |facts| match facts.relations[1] {
        Value::Absent => Some(true),
        _ => facts.truth(1),
    }),
    (r#"request.domain == "acme""#, |facts| Some(facts.domain == "acme")),
];

#[derive(Debug)]
struct World {
    rules: Vec<Rule>,
    /// Each with the number of its condition.
    policies: Vec<(Policy, usize)>,
}

impl World {
    fn new(rng: &mut Rng) -> Self {
        let effect = |rng: &mut Rng| if rng.u8(..3) == 0 { Effect::Deny } else { Effect::Allow };
        let pattern = |rng: &mut Rng| {
            let text = rng.choice(["*", "doc:*", "doc:*", RESOURCE]).expect("some");
            ResourcePattern::parse(text).expect("a pattern")
        };
        let rules = (0..rng.usize(..6)).map(|_| {
            let one =
                |rng: &mut Rng, pool: &[&str]| rng.choice(pool).copied().expect("some").to_owned();
            let tuple = RuleTuple {
                sub: one(rng, &SUBJECTS),
                dom: one(rng, &["*", "acme"]),
                obj: pattern(rng),
                act: one(rng, &["*", "read", "write"]),
            };
            Rule { id: Uuid::from_u128(rng.u128(..)), tuple, effect: effect(rng) }
        });
        let rules = rules.collect();
        let policies = (0..rng.usize(..4)).map(|number| {
            let condition = rng.usize(..CONDITIONS.len());
            let policy = Policy {
                id: Uuid::from_u128(rng.u128(..)),
                name: format!("p{number}"),
                resource: pattern(rng),
                effect: effect(rng),
                priority: rng.i32(0..3),
                condition: Ok(expression::parse(CONDITIONS[condition].0).expect("sound")),
            };
            (policy, condition)
        });
        let policies = policies.collect();
        Self { rules, policies }
    }

    fn compile(&self, resource: &str, facts: &Arc<TenantFacts>) -> Plan {
        let policies = self.policies.iter().map(|(policy, _)| policy.clone());
        Plan::compile_with(resource, 1, &self.rules, policies, Arc::clone(facts), |_| None)
    }

    /// Returns the rules that match, by the letter.
    fn matching<'w>(&'w self, facts: &'w Facts<'_>) -> impl Iterator<Item = &'w Rule> {
        self.rules.iter().filter(|rule| {
            let RuleTuple { sub, dom, obj, act } = &rule.tuple;
            let relation = sub.strip_suffix("@resource").unwrap_or(sub);
            let is_subject = match RELATIONS.iter().position(|known| *known == relation) {
                Some(at) => facts.truth(at).unwrap_or(rule.effect == Effect::Deny),
                None => sub == "*" || sub == "ann" || facts.roles.contains(sub),
            };
            is_subject
                && (dom == "*" || dom == facts.domain)
                && (act == "*" || act == "read")
                && obj.matches(RESOURCE)
        })
    }

    /// Decides by rules and policies.
    fn decide(&self, facts: &Facts<'_>) -> (Effect, Option<Uuid>) {
        let mut policies: Vec<_> = self.policies.iter().collect();
        policies.sort_by_key(|(policy, _)| (-policy.priority, policy.effect, policy.id));
        let applies = |(policy, condition): &&&(Policy, usize)| {
            let truth = CONDITIONS[*condition].1(facts);
            policy.resource.matches(RESOURCE) && truth.unwrap_or(policy.effect == Effect::Deny)
        };
        let abac =
            policies.iter().find(applies).map(|(policy, _)| (policy.effect, Some(policy.id)));
        let rbac = self.decide_rbac(facts);
        match (abac, rbac) {
            (Some((Effect::Deny, _)), _) => abac,
            (_, (Effect::Deny, Some(_))) => Some(rbac),
            _ => abac,
        }
        .unwrap_or(rbac)
    }

    fn decide_rbac(&self, facts: &Facts<'_>) -> (Effect, Option<Uuid>) {
        let first = self.matching(facts).map(|rule| (rule.effect, rule.id)).min();
        first.map_or((Effect::Deny, None), |(effect, id)| (effect, Some(id)))
    }
}

/// Calls `ask` with a check of these facts; without an owner if it is empty.
fn asked<T>(facts: &Facts<'_>, ask: impl FnOnce(&Check<'_>) -> T) -> T {
    let mut resource = tree!({"id": "d1"});
    if !facts.owner.is_empty() {
        resource["owner"] = facts.owner.into();
    }
    let body = tree!({
        "subject": "ann", "resource": RESOURCE, "action": "read",
        "attributes": {"user": {"roles": facts.roles}, "resource": resource},
    });
    let body = body.to_string();
    let body = json::parse(body.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("a check");
    ask(&Check::new(body, facts.domain, None, chrono::DateTime::UNIX_EPOCH))
}

/// Decides by the policies of a residual.
fn decide_residual(residual: &Residual<'_>, facts: &Facts<'_>) -> Effect {
    let open = residual.open_policies().expect("short");
    let last = (residual.otherwise(), Condition::And(Box::default()));
    let all = open.map(|open| (open.policy.effect, open.condition.clone())).chain([last]);
    let policies = (0..).zip(all).map(|(at, (effect, condition))| Policy {
        id: Uuid::from_u128(at),
        name: "open".to_owned(),
        resource: ResourcePattern::Any,
        effect,
        priority: -i32::try_from(at).expect("few"),
        condition: Ok(condition),
    });
    let plan = Plan::compile(RESOURCE, 1, &[], policies);
    asked(facts, |check| plan.evaluate_with(check, &facts.answers()).effect())
}

fn decide_outcome(outcome: &Outcome<'_>, facts: &Facts<'_>) -> Effect {
    match outcome {
        Outcome::Allow => Effect::Allow,
        Outcome::Deny => Effect::Deny,
        Outcome::Depends(residual) => decide_residual(residual, facts),
    }
}

#[derive(Debug, Default)]
struct Tally {
    by_relation_rule: u32,
    open: u32,
    conditional: u32,
    depends: u32,
    skipped: u32,
}

/// The relations of a check, which are at hand or take longer.
struct AskedFacts<'f> {
    facts: &'f Facts<'f>,
    is_later: bool,
}

impl AskedFacts<'_> {
    fn answers(&self, names: &[Box<str>]) -> AttributeAnswers {
        let mut answers = AttributeAnswers::default();
        names.iter().for_each(|name| self.facts.answer(name, &mut answers));
        answers
    }
}

impl portcullis_engine::Facts for AskedFacts<'_> {
    type Work = ();
    type Fault = Infallible;

    fn known(&self, _: &Check<'_>, _: DirectoryNeeds) -> KnownEntities<'_> {
        KnownEntities::default()
    }

    fn related(
        &self,
        _: &TenantFacts,
        _: &Check<'_>,
        names: &[Box<str>],
        (): &mut (),
    ) -> Result<Related, Infallible> {
        Ok(if self.is_later { Related::Later } else { Related::Known(self.answers(names)) })
    }
}

/// Decides a check with the relations that it asks for; `None` if it stays open.
fn judged(
    plan: &Plan,
    check: &Check<'_>,
    kind: CheckKind,
    asked: &AskedFacts<'_>,
    tally: &mut Tally,
) -> Option<Effect> {
    let mut question = OpenQuestion::new(plan, asked, *check, kind);
    let Ok(judged) = question.judge();
    match judged {
        Judged::Decided(decision) => Some(decision.effect()),
        Judged::NeedsRelations(requests) => {
            assert!(asked.is_later);
            tally.open += 1;
            for request in &requests {
                question.add(asked.answers(&request.attributes));
            }
            match question.verdict() {
                Verdict::Decided(decision) => Some(decision.effect()),
                Verdict::NeedsAttributes(_) => None,
            }
        }
        Judged::NeedsAnswers(_) => None,
    }
}

/// Checks decide as the oracle does: with all answers, with those that are asked for, and by RBAC alone.
fn checks(plan: &Plan, world: &World, facts: &Facts<'_>, tally: &mut Tally) {
    let expected = world.decide(facts);
    asked(facts, |check| {
        let answers = facts.answers();
        let decision = plan.evaluate_with(check, &answers);
        assert_eq!((decision.effect(), decision.rule_id()), expected, "{world:?} {facts:?}");
        let deciding = world.rules.iter().find(|rule| Some(rule.id) == expected.1);
        if let Some(rule) = deciding.filter(|rule| rule.tuple.sub.contains(['@', '#'])) {
            tally.by_relation_rule += 1;
            let begins = format!("RBAC rule `{}`", rule.tuple);
            assert!(decision.reason().starts_with(&begins), "{}", decision.reason());
        }
        let explanation = plan.explain(check, &answers, decision.rule_id());
        let mut rules: Vec<_> = world.matching(facts).collect();
        rules.sort_by_key(|rule| (rule.effect, rule.id));
        let texts = rules.iter().map(|rule| (rule.id, rule.tuple.to_string()));
        let explained = explanation.rules.iter();
        let explained = explained.map(|rule| {
            (rule.id, format!("{}, {}, {}, {}", rule.sub, rule.dom, rule.obj, rule.act))
        });
        assert!(texts.eq(explained), "{:?}", explanation.rules);
        let decides = explanation.rules.iter().find(|rule| rule.decides).map(|rule| rule.id);
        assert_eq!(decides, deciding.map(|rule| rule.id));

        for (kind, expected) in
            [(CheckKind::Combined, expected), (CheckKind::Legacy, world.decide_rbac(facts))]
        {
            for is_later in [false, true] {
                let effect = judged(plan, check, kind, &AskedFacts { facts, is_later }, tally);
                assert_eq!(effect, Some(expected.0), "{world:?} {facts:?}");
            }
        }
    });
}

/// Sets of requests decide as a check of each does.
fn sets(plan: &Plan, world: &World, facts: &Facts<'_>, table: &EntityTable, tally: &mut Tally) {
    let every: Vec<Facts<'_>> = VALUES
        .iter()
        .flat_map(|editor| VALUES.map(|viewer| (*editor, viewer)))
        .flat_map(|(editor, viewer)| VALUES.map(|member| [editor, viewer, member]))
        .flat_map(|relations| OWNERS.map(|owner| Facts { relations, owner, ..*facts }))
        .collect();
    let open = Facts { owner: "", ..*facts };
    asked(&open, |check| {
        let input =
            SearchInput { check, searched: Searched::Resource, entities: None, is_given: false };
        let search = EntitySearch::new(plan, input);
        let found: Vec<_> = search.entities(table, "doc", None, &[]).collect();
        for owner in OWNERS {
            let outcome = found.iter().find(|entity| entity.id() == owner).map(|entity| {
                search.decide(&SearchCandidate::for_resource(entity.id(), entity.properties()))
            });
            for facts in every.iter().filter(|facts| facts.owner == owner) {
                if let Some(entity) = found.iter().find(|entity| entity.id() == owner) {
                    let candidate = SearchCandidate::for_resource(owner, entity.properties());
                    let answers = facts.answers();
                    let ask = |name: &str| answers.get(RELATION, name).cloned();
                    let known = search.decide_with(&candidate, ask);
                    let is_allowed = matches!(known, SearchOutcome::Allowed(_));
                    let is_open = matches!(known, SearchOutcome::Conditional(_));
                    assert_eq!(
                        (is_allowed, is_open),
                        (world.decide(facts).0 == Effect::Allow, false)
                    );
                    if let SearchOutcome::Allowed(id) = known {
                        assert_eq!(
                            Some(id),
                            decided_by(plan, facts),
                            "search: {facts:?} {world:?}"
                        );
                    }
                }
                let effect = match &outcome {
                    None | Some(SearchOutcome::Denied) => Effect::Deny,
                    Some(SearchOutcome::Allowed(_)) => Effect::Allow,
                    Some(SearchOutcome::Conditional(dependence)) => {
                        tally.conditional += 1;
                        decide_residual(&dependence.residual, facts)
                    }
                };
                assert_eq!(effect, world.decide(facts).0, "search: {facts:?}");
            }
        }
        narrowed(&search, world, &every, table, tally);
        let filter = plan.filter(check, &AttributeAnswers::default(), &RowAttributes::resource());
        let mut matrix = PlanMatrix::new(plan, Attributes::default());
        let cell = |domain| MatrixCell {
            subject: Some("ann"),
            roles: facts.roles,
            relation: None,
            domain,
            action: Some(Action::Plain("read")),
        };
        let (named, other) =
            (matrix.outcome(&cell(Some(facts.domain))), matrix.outcome(&cell(None)));
        let related = MatrixCell { relation: Some(RELATIONS[0]), ..cell(Some(facts.domain)) };
        let related = matrix.outcome(&related);
        for facts in &every {
            let expected = world.decide(facts).0;
            assert_eq!(decide_outcome(&filter.outcome, facts), expected, "filter: {facts:?}");
            assert_eq!(decide_outcome(&named, facts), expected, "matrix: {facts:?}");
            if facts.relations[0] == Value::Is(true) {
                assert_eq!(decide_outcome(&related, facts), expected, "related: {facts:?}");
            }
            tally.depends += u32::from(matches!(named, Outcome::Depends(_)));
            let facts = Facts { domain: "nobody names it", ..*facts };
            assert_eq!(
                decide_outcome(&other, &facts),
                world.decide(&facts).0,
                "any domain: {facts:?}"
            );
        }
    });
}

/// Returns the id of what decides a check that asks for relations only if they matter.
fn decided_by(plan: &Plan, facts: &Facts<'_>) -> Option<Uuid> {
    asked(facts, |check| {
        let decision = match plan.decide(check, &AttributeAnswers::default()) {
            Verdict::Decided(decision) => decision,
            Verdict::NeedsAttributes(requests) => {
                let mut answers = AttributeAnswers::default();
                let names = requests.iter().flat_map(|request| &request.attributes);
                names.for_each(|name| facts.answer(name, &mut answers));
                plan.evaluate_with(check, &answers)
            }
        };
        decision.matched_rule_id().0
    })
}

/// Candidates that the lists of relations leave out are denied.
fn narrowed(
    search: &EntitySearch<'_, '_>,
    world: &World,
    every: &[Facts<'_>],
    table: &EntityTable,
    tally: &mut Tally,
) {
    let of = |owner| every.iter().filter(move |facts| facts.owner == owner);
    // Each pair of facts that differ by a shift.
    let pairs = of(OWNERS[0]).zip(of(OWNERS[1]).cycle().skip(every.len() / 3));
    for (ann, bob) in pairs {
        let related = search.relations().map(|name| {
            let at = RELATIONS.iter().position(|known| *known == name).expect("a relation");
            let values = [ann, bob].map(|facts| (facts.owner, facts.relations[at]));
            let ids = values.iter().filter(|(_, value)| *value == Value::Is(true));
            let is_known = values.iter().all(|(_, value)| *value != Value::Absent);
            is_known.then(|| ids.map(|(owner, _)| *owner).collect())
        });
        let related: Vec<Option<Vec<&str>>> = related.collect();
        let found: Vec<&str> =
            search.entities(table, "doc", None, &related).map(|entity| entity.id()).collect();
        for facts in [ann, bob].into_iter().filter(|facts| !found.contains(&facts.owner)) {
            assert_eq!(world.decide(facts).0, Effect::Deny, "{related:?} {facts:?} {world:?}");
            tally.skipped += 1;
        }
    }
}

/// Returns the plan of a later revision, made by changes, and the one that shares with a broader plan.
fn derived(world: &World, next: &World, facts: &Arc<TenantFacts>, rng: &mut Rng) -> [Plan; 2] {
    let gone = world.rules.iter().map(|rule| (rule.id, None));
    let new = next.rules.iter().map(|rule| (rule.id, Some(rule.clone())));
    let changes = PlanChanges {
        rules: gone.chain(new).collect(),
        policies: (world.policies.iter().map(|(policy, _)| (policy.id, None)))
            .chain(next.policies.iter().map(|(policy, _)| (policy.id, Some(policy.clone()))))
            .collect(),
        ..PlanChanges::default()
    };
    let before = world.compile(RESOURCE, facts);
    let changed = before.with_changes(2, changes, None, |_| None).expect("shares nothing");
    let pattern = if rng.bool() { "*" } else { "doc:*" };
    let broader = next.compile(pattern, facts);
    let is_own =
        |obj: &ResourcePattern| !ResourcePattern::matching(pattern).contains(&obj.to_string());
    let mut policies = next.policies.iter().map(|(policy, _)| policy.clone()).collect::<Vec<_>>();
    if !policies.iter().any(|policy| is_own(&policy.resource)) {
        policies.clear();
    }
    let rules: Vec<Rule> =
        next.rules.iter().filter(|rule| is_own(&rule.tuple.obj)).cloned().collect();
    let own = Plan::compile_with(RESOURCE, 2, &rules, policies, Arc::clone(facts), |_| None);
    let shared = own.over(&broader);
    // A change to the same world changes nothing.
    let same = PlanChanges {
        rules: next.rules.iter().map(|rule| (rule.id, Some(rule.clone()))).collect(),
        ..PlanChanges::default()
    };
    let again = shared.with_changes(3, same, Some(&broader), |_| None);
    [changed, again.unwrap_or(shared)]
}

#[test]
fn every_evaluator_agrees_on_relations() {
    let facts = TenantFacts { relations: Some("types".into()), ..TenantFacts::default() };
    let facts = Arc::new(facts);
    let mut builder = EntityTable::builder();
    for owner in OWNERS {
        let properties = format!(r#"{{"owner": "{owner}"}}"#);
        let properties = json::parse(properties.as_bytes()).expect("JSON");
        let properties = properties.as_object().expect("an object");
        let entity = EntityInput {
            entity_type: "doc",
            id: owner,
            roles: &[],
            domain_roles: &[],
            properties,
        };
        builder.push(&entity).expect("fits");
    }
    let table = builder.finish().expect("a table");
    let mut tally = Tally::default();
    for seed in 0..CASES * u64::from(crate::effort::factor()) {
        let rng = &mut Rng::with_seed(seed);
        let (before, world) = (World::new(rng), World::new(rng));
        // A role that is spelled as a relation is a text that no rule names.
        let roles = rng.choose_multiple(["nurse".to_owned(), "editor@resource".to_owned()], 1);
        let drawn = Facts {
            roles: &roles,
            domain: rng.choice(["acme", "other"]).expect("some"),
            owner: rng.choice(OWNERS).expect("some"),
            relations: std::array::from_fn(|_| rng.choice(VALUES).expect("some")),
        };
        let plan = world.compile(RESOURCE, &facts);
        checks(&plan, &world, &drawn, &mut tally);
        for plan in derived(&before, &world, &facts, rng) {
            checks(&plan, &world, &drawn, &mut tally);
        }
        if seed % 8 == 0 {
            sets(&plan, &world, &drawn, &table, &mut tally);
        }
    }
    println!("{tally:?}");
    let Tally { by_relation_rule, open, conditional, depends, skipped } = tally;
    let counts = [by_relation_rule, open, conditional, depends, skipped];
    assert!(counts.iter().all(|count| *count > 1_000));
}

#[test]
fn without_relations_a_subject_is_a_text() {
    let tuple = RuleTuple {
        sub: "editor@resource".to_owned(),
        dom: "*".to_owned(),
        obj: ResourcePattern::Any,
        act: "*".to_owned(),
    };
    let rule = Rule { id: Uuid::from_u128(1), tuple, effect: Effect::Allow };
    let plan = Plan::compile(RESOURCE, 1, &[rule], []);
    let roles = ["editor@resource".to_owned()];
    let facts = Facts { roles: &roles, domain: "acme", owner: "", relations: [Value::Failed; 3] };
    asked(&facts, |check| {
        let verdict = plan.decide(check, &AttributeAnswers::default());
        assert!(matches!(verdict, Verdict::Decided(found) if found.effect() == Effect::Allow));
    });
}

#[test]
fn an_undetermined_subject_denies_and_says_why() {
    let rule = |number, effect| Rule {
        id: Uuid::from_u128(number),
        tuple: RuleTuple {
            sub: "editor@resource".to_owned(),
            dom: "*".to_owned(),
            obj: ResourcePattern::Name("doc".to_owned()),
            act: "*".to_owned(),
        },
        effect,
    };
    let facts = TenantFacts { relations: Some("types".into()), ..TenantFacts::default() };
    let facts = Arc::new(facts);
    let failed = Facts { roles: &[], domain: "acme", owner: "", relations: [Value::Failed; 3] };
    for (rules, expected) in [
        (
            vec![rule(1, Effect::Allow), rule(2, Effect::Deny)],
            "RBAC rule `editor@resource, *, doc:*, *` denies: its subject is undetermined, because attribute \
             `relation.editor` is not known: too much work",
        ),
        (
            vec![rule(1, Effect::Allow)],
            "no RBAC rule and no ABAC policy allows it; the subject of RBAC rule `editor@resource, *, doc:*, *` is \
             undetermined, because attribute `relation.editor` is not known: too much work",
        ),
    ] {
        let plan = Plan::compile_with(RESOURCE, 1, &rules, [], Arc::clone(&facts), |_| None);
        let needs = plan.directory_needs();
        assert_eq!(
            (needs.relations, needs.resource, needs.user, needs.roles),
            (true, false, false, false)
        );
        asked(&failed, |check| {
            let answers = failed.answers();
            let decision = plan.evaluate_with(check, &answers);
            assert_eq!((decision.effect(), &*decision.reason()), (Effect::Deny, expected));
            let explanation = plan.explain(check, &answers, decision.rule_id());
            let read = explanation.attributes.iter().map(|read| (&*read.attribute, &*read.source));
            assert_eq!(read.collect::<Vec<_>>(), [("relation.editor", "relations")]);
            assert!(explanation.policies.is_empty());
        });
    }
}
