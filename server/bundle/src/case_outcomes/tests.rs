//! Cases that pass, fail and are skipped.

use std::cell::Cell;

use portcullis_directory::read_relations;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::relation::RelationNames;
use portcullis_engine::types::Types;
use portcullis_engine::{Condition, Effect, Policy, ResourcePattern, Rule, RuleTuple, json};
use portcullis_model::relation_declaration::{RelationDeclaration, RelationDeclarations};
use uuid::Uuid;

use super::*;

const CASES: &str = r#"[
    {"name": "passes", "check": {"subject": "ann", "resource": "doc:read", "action": "read"},
     "expect": {"decision": "allow", "rule": "ann, acme, doc:read, read"}},
    {"name": "another decision", "check": {"subject": "ann", "resource": "doc:write", "action": "write"},
     "expect": {"decision": "allow", "rule": "open"}},
    {"name": "another rule", "check": {"subject": "ann", "resource": "doc:read", "action": "read"},
     "expect": {"decision": "allow", "rule": "open"}},
    {"name": "undetermined", "check": {"subject": "ann", "resource": "vault:open", "action": "open"},
     "expect": {"decision": "deny", "rule": "locked"}},
    {"name": "undetermined on purpose", "undetermined": "allowed",
     "check": {"subject": "ann", "resource": "vault:open", "action": "open"},
     "expect": {"decision": "deny", "rule": "locked"}},
    {"name": "of a resolver", "check": {"subject": "ann", "resource": "geo:see", "action": "see"},
     "expect": {"decision": "allow", "rule": "abroad"}},
    {"name": "answered", "check": {"subject": "ann", "resource": "geo:see", "action": "see"},
     "resolved": {"geo": {"country": "fr"}}, "expect": {"decision": "allow", "rule": "abroad"}},
    {"name": "a decision alone", "check": {"subject": "ann", "resource": "doc:read", "action": "read"},
     "expect": {"decision": "allow"}},
    {"name": "another decision alone", "check": {"subject": "ann", "resource": "doc:read", "action": "read"},
     "expect": {"decision": "deny"}},
    {"name": "undetermined alone", "check": {"subject": "ann", "resource": "vault:open", "action": "open"},
     "expect": {"decision": "deny"}}
]"#;

fn policy(id: u128, name: &str, resource: &str, effect: Effect, condition: &str) -> Policy {
    let condition = json::parse(condition.as_bytes()).expect("JSON");
    Policy {
        id: Uuid::from_u128(id),
        name: name.to_owned(),
        resource: ResourcePattern::parse(resource).expect("a pattern"),
        effect,
        priority: 1,
        condition: Ok(Condition::parse(&condition).expect("a condition")),
    }
}

fn rulebook() -> Rulebook {
    let obj = ResourcePattern::parse("doc:read").expect("a resource");
    let tuple = RuleTuple { sub: "ann".into(), dom: "acme".into(), obj, act: "read".into() };
    let rule = Rule { id: Uuid::from_u128(9), tuple, effect: Effect::Allow };
    let locked =
        r#"{"type": "CONDITION", "attribute": "resource.locked", "operator": "eq", "value": true}"#;
    let abroad =
        r#"{"type": "CONDITION", "attribute": "geo.country", "operator": "ne", "value": "de"}"#;
    Rulebook::from_stored(
        vec![rule],
        vec![
            policy(1, "locked", "vault:*", Effect::Deny, locked),
            policy(2, "abroad", "geo:see", Effect::Allow, abroad),
        ],
    )
}

fn set() -> CaseSet {
    CaseSet::from_stored("acme", CASES, "[]").expect("valid")
}

#[test]
fn each_case_passes_fails_or_is_skipped_with_its_cause() {
    let report = CaseOutcomes::new(&rulebook(), &set(), || true);
    assert_eq!(report.passed, 4);
    let failed: Vec<_> = report
        .failed
        .iter()
        .map(|failure| {
            let actual = failure.actual.as_ref().expect("it is decided");
            (&*failure.case, actual.rule.as_deref().unwrap_or_default(), actual.decision)
        })
        .collect();
    assert_eq!(
        failed,
        [
            ("another decision", "default-deny", Effect::Deny),
            ("another rule", "ann, acme, doc:read, read", Effect::Allow),
            ("undetermined", "locked", Effect::Deny),
            ("another decision alone", "ann, acme, doc:read, read", Effect::Allow),
            ("undetermined alone", "locked", Effect::Deny),
        ]
    );
    assert_eq!(
        report.failed[2].reason,
        "the condition of `locked` is undetermined: attribute `resource.locked` is missing"
    );
    let cause = SkipCause::Resolver("geo".to_owned());
    let skipped: Vec<_> = report.skipped.iter().map(|one| (&*one.case, &one.cause)).collect();
    assert_eq!(skipped, [("of a resolver", &cause)]);
}

#[test]
fn a_case_has_the_tuples_that_count_in_it() {
    let relations =
        json::parse(br#"{"viewer": "[user, doc#viewer]", "editor": "[user]"}"#).expect("JSON");
    let (mut problems, root) = (Problems::default(), Place::root());
    let read = read_relations(&relations, &root, &mut problems).expect("sound");
    let declared = read.into_iter().map(|one| (one.name.clone(), RelationDeclaration(one)));
    let declared: RelationDeclarations = declared.collect();
    let obj = ResourcePattern::parse("doc:read").expect("a resource");
    let tuple =
        RuleTuple { sub: "viewer@resource".into(), dom: "*".into(), obj, act: "read".into() };
    let rule = Rule { id: Uuid::from_u128(1), tuple, effect: Effect::Allow };
    let names = RelationNames::from_iter([("doc".to_owned(), declared.keys().cloned())]);
    // No decision depends on the relation, since the state is absent. As nobody is an editor, the condition is false.
    let draft = r#"{"type": "AND", "children": [
        {"type": "CONDITION", "attribute": "relation.editor", "operator": "eq", "value": true},
        {"type": "CONDITION", "attribute": "resource.state", "operator": "eq", "value": "draft"}]}"#;
    let draft = policy(2, "draft", "doc:read", Effect::Allow, draft);
    let rulebook = Rulebook::from_stored(vec![rule], vec![draft])
        .with_types(&Types::default().with_relations(names))
        .with_relations([("doc", &declared)]);
    let case = |name: &str, rest: &str, decision: &str, rule: &str| {
        format!(
            r#"{{"name": "{name}", "check": {{"subject": "ann", "resource": "doc:read", "action": "read",
            "attributes": {{"resource": {{"id": "d1"}}}}}}, {rest}
            "expect": {{"decision": "{decision}", "rule": "{rule}"}}}}"#
        )
    };
    let by_rule = "viewer@resource, *, doc:read, read";
    let tuple = |of: &str, subject: &str| {
        format!(r#"{{"object": "doc:{of}", "relation": "viewer", "subject": "{subject}"}}"#)
    };
    let shared = format!(r#""relations": [{}],"#, tuple("d1", "user:ann"));
    let refused = format!(r#""relations": [{}],"#, tuple("d1", "team:a"));
    let cases = [
        case("shared", &shared, "allow", by_rule),
        case("not shared", r#""relations": [],"#, "deny", "default-deny"),
        case("unknown", "", "deny", "default-deny"),
        case("refused", &refused, "allow", by_rule),
    ];
    let set = CaseSet::from_stored("acme", &format!("[{}]", cases.join(",")), "[]").expect("valid");
    let report = CaseOutcomes::new(&rulebook, &set, || true);
    assert_eq!(report.passed, 2, "{report:?}");
    assert_eq!(report.skipped[0].cause, SkipCause::Relations);
    let reason = &report.failed[0].reason;
    assert!(reason.contains("`/relations/0/subject`: expected a subject that"), "{reason}");
}

#[test]
fn cases_beyond_the_work_are_skipped() {
    let report = CaseOutcomes::within(&rulebook(), &set(), 0, || true);
    assert_eq!((report.passed, report.failed.len(), report.skipped.len()), (0, 0, 10));
    assert!(report.skipped.iter().all(|case| case.cause == SkipCause::TooMuchWork));
    // The plan of the first resource takes all of it, and the cases of later resources are skipped.
    let one = rulebook().plan("doc:read").weight() + 1_000;
    let report = CaseOutcomes::within(&rulebook(), &set(), one, || true);
    assert!(report.passed > 0 && !report.skipped.is_empty(), "{report:?}");
}

#[test]
fn cases_after_the_time_are_skipped() {
    let decided = |allowed: usize| {
        let asked = Cell::new(0);
        let may_go_on = || asked.replace(asked.get() + 1) < allowed;
        CaseOutcomes::new(&rulebook(), &set(), may_go_on)
    };
    // The first resource takes one question for its plan and one for each of its cases.
    let report = decided(3);
    assert_eq!((report.passed, report.failed.len(), report.skipped.len()), (1, 1, 8));
    assert!(report.skipped.iter().all(|case| case.cause == SkipCause::TooMuchTime));
    let report = decided(2);
    assert_eq!((report.passed, report.failed.len(), report.skipped.len()), (1, 0, 9));
    // The control: four resources and ten cases.
    let skipped = decided(14).skipped;
    assert!(skipped.iter().all(|case| case.cause == SkipCause::Resolver("geo".to_owned())));
}
