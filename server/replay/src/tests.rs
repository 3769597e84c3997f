//! Records, decided again on two sides.

use portcullis_bundle::Rulebook;
use portcullis_engine::types::{Property, PropertySource, PropertyType, Types};
use portcullis_engine::{
    Datetimes, Effect, Policy, Precedence, PropertySources, ResourcePattern, RoleInclusions, Rule,
    RuleTuple, TenantFacts, expression,
};
use portcullis_model::decision::Treatment;
use portcullis_model::decision_log::DecisionLogSettings;
use portcullis_model::replay::ReplayChange::{self, *};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{Compared, RecordedDirectory, RecordedInputs, Side, Tally, compare};

/// A tenant's rules: policies that allow under a condition, a rule for the role `nurse`, and the roles that include it.
#[derive(Clone, Copy)]
struct Rules {
    when: &'static str,
    includes_nurse: &'static [&'static str],
    directory_wins: bool,
    /// The source of `user.ward`.
    ward: Option<PropertySource>,
    /// The attribute that is recorded only if a policy reads it.
    reads: &'static str,
    /// Whether `user.since` is declared as a date-time.
    has_datetime: bool,
}

const RULES: Rules = Rules {
    when: "1 == 2",
    includes_nurse: &[],
    directory_wins: false,
    ward: None,
    reads: "",
    has_datetime: false,
};

impl Rules {
    fn when(when: &'static str) -> Self {
        Self { when, ..RULES }
    }

    fn side(self) -> Side {
        let condition = match self.when {
            "1 == 2" => "request.subject == 'nobody'",
            when => when,
        };
        let policy = Policy {
            id: Uuid::from_u128(1),
            name: "p".to_owned(),
            resource: ResourcePattern::Any,
            effect: Effect::Allow,
            priority: 0,
            condition: Ok(expression::parse(condition).expect("an expression")),
        };
        let obj = ResourcePattern::parse("chart:read").expect("a resource");
        let text = |text: &str| text.to_owned();
        let tuple = RuleTuple { sub: text("nurse"), dom: text("*"), obj, act: text("read") };
        let rule = Rule { id: Uuid::from_u128(2), tuple, effect: Effect::Allow };
        let inclusions = self.includes_nurse.iter().map(|role| (text(role), vec![text("nurse")]));
        let ward = self.ward.map(|source| (text("user"), vec![(text("ward"), source)]));
        let sources: PropertySources = ward.into_iter().collect();
        let precedence =
            if self.directory_wins { Precedence::Directory } else { Precedence::Request };
        let since = Property { kind: PropertyType::Datetime, to: None, from: None };
        let since = self.has_datetime.then(|| (text("user"), [(text("since"), since)]));
        let facts = TenantFacts {
            directory: Some(precedence),
            inclusions: RoleInclusions::new(inclusions),
            sources,
            datetimes: Datetimes::from(&since.into_iter().collect::<Types>()).into(),
            ..TenantFacts::default()
        };
        let rulebook = Rulebook::from_stored(vec![rule], vec![policy]).with_facts(facts);
        let mut recording = DecisionLogSettings::default();
        recording.attributes.insert(text(self.reads), Treatment::Reads);
        Side::new(rulebook, Vec::new(), &recording)
    }
}

/// The text of a record of a check about `ann`, with further members.
fn record(decision: &str, rule: u128, members: &Value) -> String {
    let rule = match rule {
        0 => "default-deny".to_owned(),
        id => Uuid::from_u128(id).to_string(),
    };
    let mut record = json!({
        "id": Uuid::from_u128(7), "time": "2026-05-16T09:30:00.000Z", "tenant": "acme", "revision": 1,
        "entities_revision": 0, "via": "check", "request_id": "r", "subject": "ann", "domain": "acme",
        "resource": "chart:read", "action": "read", "attributes": {}, "decision": decision, "rule": rule,
        "reason": "", "undetermined": [], "us": 1,
    });
    for (name, value) in members.as_object().into_iter().flatten() {
        record[name] = value.clone();
    }
    record.to_string()
}

fn compared(record: &str, old: Rules, new: Rules, has_directory: bool) -> Compared {
    let inputs = [RecordedInputs::read(record.as_bytes()).expect("readable")];
    let directory = RecordedDirectory::new(&inputs);
    compare(&inputs[0], directory.known(0), (&old.side(), &new.side()), has_directory)
}

/// The outcome in one word.
fn word(compared: &Compared) -> &'static str {
    match compared {
        Compared::NotReplayable => "not_replayable",
        Compared::Same => "same",
        Compared::Differs(difference) => difference.change.into(),
    }
}

#[test]
fn a_record_is_decided_by_what_it_has() {
    let token = json!({"kind": "token", "sub": "ann"});
    let by_token = |members: Value| {
        let mut all = json!({"caller": token});
        for (name, value) in members.as_object().into_iter().flatten() {
            all[name] = value.clone();
        }
        all
    };
    for (members, rule, old, new, expected) in [
        (
            json!({"attributes": {"user": {"level": 3}}}),
            1,
            "user.level == 3",
            "user.level > 3",
            "allow_to_deny",
        ),
        (
            json!({"attributes": {"context": {"x": "a"}}}),
            0,
            "context.x == 'b'",
            "context.x == 'a'",
            "deny_to_allow",
        ),
        // An object is a present value that nothing compares.
        (json!({"attributes": {"user": {"o": {}}}}), 1, "exists(user.o)", "exists(user.o)", "same"),
        (
            json!({"attributes": {"user": {"roles": ["nurse"]}}}),
            2,
            "1 == 2",
            "request.roles contains 'nurse'",
            "rule_changed",
        ),
        (
            by_token(json!({"token": {"a.b": 1}})),
            1,
            "token.a.b == 1",
            "token.a.b == 2",
            "allow_to_deny",
        ),
        (by_token(json!({"directory": {"roles": ["nurse"]}})), 2, "1 == 2", "1 == 2", "same"),
        (by_token(json!({})), 0, "1 == 2", "token.x == 1", "undetermined_new"),
        // A key has no claims.
        (json!({}), 0, "1 == 2", "token.x == 1", "same"),
        (
            json!({"relations": {"viewer": true}}),
            1,
            "relation.viewer == true",
            "relation.viewer == false",
            "allow_to_deny",
        ),
        // One that is absent is known, and `??` replaces it. One without an answer decides nothing.
        (
            json!({"relations": {"viewer": "absent"}}),
            1,
            "(relation.viewer == true) ?? true",
            "exists(relation.viewer)",
            "allow_to_deny",
        ),
        (
            json!({"relations": {"viewer": null}}),
            0,
            "(relation.viewer == true) ?? true",
            "!exists(relation.viewer)",
            "same",
        ),
        (json!({}), 0, "1 == 2", "relation.viewer == true", "undetermined_new"),
        (
            json!({"resolved": {"geo": {"values": {"country": "DE", "city": null}}}}),
            1,
            "geo.country == 'DE'",
            "exists(geo.city)",
            "allow_to_deny",
        ),
        (
            json!({"resolved": {"geo": {"values": {}, "failed": {"country": "late"}}}}),
            0,
            "geo.country == 'DE'",
            "geo.country == 'DE'",
            "same",
        ),
        (json!({}), 0, "1 == 2", "geo.country == 'DE'", "undetermined_new"),
        (
            json!({"via": "legacy", "attributes": {}}),
            0,
            "user.level == 3",
            "user.level > 3",
            "same",
        ),
        (
            json!({"resource": "chart:write"}),
            1,
            "request.time == '2026-05-16T09:30:00.000Z'",
            "1 == 2",
            "allow_to_deny",
        ),
        // The record contradicts the rules.
        (json!({}), 1, "1 == 2", "1 == 2", "not_reproduced"),
        (json!({"dropped": ["user.pin"]}), 0, "user.pin == 1", "1 == 2", "not_replayable"),
        (json!({"dropped": ["user.pin"]}), 0, "1 == 2", "user.pin == 1", "undetermined_new"),
        (
            json!({"attributes": {"user": {"pin": {"hmac": "00"}}}}),
            0,
            "user.pin == 1",
            "1 == 2",
            "not_replayable",
        ),
        (
            json!({"attributes": {"user": {"pins": [{"hmac": "00"}]}}}),
            0,
            "user.pins contains 1",
            "1 == 2",
            "not_replayable",
        ),
        (json!({"dropped": ["user.roles"]}), 0, "1 == 2", "1 == 2", "not_replayable"),
    ] {
        let decision = if rule == 0 { "deny" } else { "allow" };
        let record = record(decision, rule, &members);
        let found = compared(&record, Rules::when(old), Rules::when(new), false);
        assert_eq!(word(&found), expected, "{members} {old} → {new}: {found:?}");
    }
}

#[test]
fn records_with_mistyped_members_are_unreadable() {
    for members in [
        json!({"id": 7}),
        json!({"time": "yesterday"}),
        json!({"via": "mail"}),
        json!({"subject": null}),
        json!({"decision": "perhaps"}),
        json!({"rule": "7"}),
    ] {
        let text = record("allow", 1, &members);
        assert!(RecordedInputs::read(text.as_bytes()).is_err(), "{text}");
    }
    assert!(RecordedInputs::read(b"[]").is_err());
}

#[test]
fn the_directory_says_what_it_said() {
    let old = Rules::when("user.level == 3");
    let level = || json!({"directory": {"user": {"level": 3}}});
    let sent = || json!({"attributes": {"user": {"level": 3, "ward": "er"}}});
    let wins = Rules { directory_wins: true, ..old };
    for (members, new, expected) in [
        (level(), Rules::when("user.level > 3"), "allow_to_deny"),
        (level(), wins, "same"),
        (level(), Rules::when("user.ward == 'er'"), "undetermined_new"),
        // The request decides that it is no other.
        (level(), Rules::when("user.ward == 'er' || user.level == 3"), "same"),
        (sent(), Rules::when("user.ward == 'er'"), "same"),
        (sent(), wins, "undetermined_new"),
        (
            sent(),
            Rules { ward: Some(PropertySource::Directory), ..Rules::when("user.ward == 'er'") },
            "undetermined_new",
        ),
        // Without an id, the directory knows no resource.
        (level(), Rules::when("resource.vip == true"), "allow_to_deny"),
        (
            json!({"directory": {"user": {"level": 3}}, "attributes": {"resource": {"id": "c1"}}}),
            Rules::when("resource.vip == true"),
            "undetermined_new",
        ),
    ] {
        let found = compared(&record("allow", 1, &members), old, new, true);
        assert_eq!(word(&found), expected, "{members} → {}: {found:?}", new.when);
    }
}

#[test]
fn roles_are_those_of_the_subject_with_the_inclusions_of_each_side() {
    let old = Rules { includes_nurse: &["head"], ..RULES };
    let other = Rules { includes_nurse: &["chief"], ..RULES };
    let of = |roles: Value, own: Value| json!({"directory": {"roles": roles, "own_roles": own}});
    for (members, new, expected) in [
        (of(json!(["head", "nurse"]), json!(1)), old, "same"),
        (of(json!(["head", "nurse"]), json!(1)), other, "allow_to_deny"),
        (of(json!(["head", "nurse"]), json!(2)), other, "same"),
        (json!({"attributes": {"user": {"roles": ["head"]}}}), other, "allow_to_deny"),
    ] {
        let found = compared(&record("allow", 2, &members), old, new, true);
        assert_eq!(word(&found), expected, "{members}: {found:?}");
    }
}

#[test]
fn an_attribute_that_the_record_lacks_leaves_the_new_side_undetermined() {
    let old = Rules { reads: "context.ip", ..RULES };
    let new = Rules::when("context.ip == 'x'");
    let found = compared(&record("deny", 0, &json!({})), old, new, false);
    assert_eq!(word(&found), "undetermined_new");
    let sent = json!({"attributes": {"context": {"ip": "x"}}});
    let found = compared(&record("deny", 0, &sent), old, new, false);
    assert_eq!(word(&found), "deny_to_allow");
}

/// An order of texts that decided is undetermined now, and says nothing about the candidate.
#[test]
fn a_decision_that_rests_on_an_order_of_date_times_is_not_replayable() {
    let sent = json!({"attributes": {"user": {"since": "2026-01-15T10:00:00+02:00"}}});
    let allowed = record("allow", 1, &sent);
    let sound = Rules::when("user.since after '2026-01-15T09:00:00Z'");
    let old = Rules::when("user.since > '2026-01-15T09:00:00Z'");
    assert_eq!(word(&compared(&allowed, old, sound, false)), "allow_to_deny");
    let old = Rules { has_datetime: true, ..old };
    assert_eq!(word(&compared(&allowed, old, sound, false)), "not_replayable");
    // What rests on nothing undetermined is.
    let by_rule = record("allow", 2, &json!({"attributes": {"user": {"roles": ["nurse"]}}}));
    assert_eq!(word(&compared(&by_rule, old, RULES, false)), "same");
}

#[test]
fn tallies_add_up() {
    let difference = |change| {
        let (before, after) = ("a".into(), Some("b".into()));
        Compared::Differs(crate::Difference { change, before, after })
    };
    let mut whole = Tally::default();
    for subjects in [["ann", "bob"], ["bob", "eve"]] {
        let mut part = Tally::default();
        for subject in subjects {
            let text = record("allow", 1, &json!({"subject": subject}));
            let record = RecordedInputs::read(text.as_bytes()).expect("readable");
            part.add(&record, difference(ReplayChange::AllowToDeny));
            part.add(&record, difference(RuleChanged));
            part.add(&record, Compared::Same);
            part.add(&record, Compared::NotReplayable);
        }
        whole.merge(part);
    }
    let report = whole.report(true);
    let counts = [report.replayed, report.reproduced, report.unchanged, report.not_replayable];
    assert_eq!(counts, [16, 12, 8, 4]);
    let groups: Vec<_> =
        report.groups.iter().map(|one| (one.change, one.count, one.subjects)).collect();
    assert_eq!(groups, [(AllowToDeny, 4, 3), (RuleChanged, 4, 3)]);
    assert_eq!((report.groups[0].samples.len(), report.more_groups), (4, false));
}

#[test]
fn many_groups_of_one_change_hide_none_of_another() {
    let mut tally = Tally::default();
    let mut add = |change, resource: &str| {
        let text = record("allow", 1, &json!({"resource": resource}));
        let record = RecordedInputs::read(text.as_bytes()).expect("readable");
        let (before, after) = ("a".into(), Some("b".into()));
        tally.add(&record, Compared::Differs(crate::Difference { change, before, after }));
    };
    (0..300).for_each(|number| add(AllowToDeny, &format!("chart-{number}:read")));
    add(DenyToAllow, "vault:open");
    let report = tally.report(true);
    assert_eq!((report.groups.len(), report.more_groups), (200, true));
    assert_eq!(report.groups[199].resource, "vault:open");
}
