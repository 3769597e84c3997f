//! The keys of rules, in place and beside.

use chrono::DateTime;

use super::*;
use crate::decision::Matched;
use crate::plan::Plan;
use crate::rbac::RuleTuple;
use crate::request::{Attributes, CheckBody};
use crate::resolution::AttributeAnswers;

/// Returns the subject, domain and action of the rule that decides about `subject`; `None` if no rule does.
fn decides(plan: &Plan, subject: &str) -> Option<[String; 3]> {
    let attributes = Attributes::default();
    let body = CheckBody {
        expected: None,
        subject,
        subject_type: None,
        resource: "doc:read",
        action: Action::Plain("read"),
        domain: None,
        attributes,
    };
    let decision = plan.evaluate(&Check::new(body, "acme", None, DateTime::UNIX_EPOCH));
    match decision.matched() {
        Matched::Rule(rule) => Some([rule.sub(), rule.dom(), rule.act()].map(str::to_owned)),
        _ => None,
    }
}

#[test]
fn a_key_of_any_length_finds_its_rule_alone() {
    // With `acme` and `read`, a subject of 18 bytes is the longest in place.
    let subjects: Vec<String> =
        [1, 17, 18, 19, 20, 255, 256].iter().map(|length| "s".repeat(*length)).collect();
    let rules: Vec<Rule> = (1..)
        .zip(&subjects)
        .map(|(id, subject)| Rule {
            id: Uuid::from_u128(id),
            tuple: RuleTuple {
                sub: subject.clone(),
                dom: "acme".to_owned(),
                obj: ResourcePattern::Exact("doc:read".to_owned()),
                act: "read".to_owned(),
            },
            effect: Effect::Allow,
        })
        .collect();
    let plan = Plan::compile("doc:read", 1, &rules, []);
    for subject in &subjects {
        let expected = [subject, "acme", "read"].map(str::to_owned);
        assert_eq!(decides(&plan, subject), Some(expected), "{}", subject.len());
        let other = format!("{}t", &subject[1..]);
        assert_eq!(decides(&plan, &other), None, "{}", subject.len());
    }
    let gone = rules.iter().take(4).map(|rule| rule.id).collect();
    let index = RbacIndex::new(rules.iter()).without(&gone);
    let left = index.rules.iter().map(|entry| index.long_keys.texts(&entry.key).all()[0].len());
    let mut left: Vec<usize> = left.collect();
    left.sort_unstable();
    assert_eq!(left, [20, 255, 256]);
}

#[test]
fn an_action_that_was_left_out_is_found_raw_and_decoded() {
    let resource = "doc:send%20all";
    let rule = |id, act: &str| Rule {
        id: Uuid::from_u128(id),
        tuple: RuleTuple {
            sub: act.to_owned(),
            dom: "acme".to_owned(),
            obj: ResourcePattern::Exact(resource.to_owned()),
            act: act.to_owned(),
        },
        effect: Effect::Allow,
    };
    let plan = Plan::compile(resource, 1, &[rule(1, "send all"), rule(2, "send%20all")], []);
    for (sent, subject, expected) in [
        (None, "send all", true),
        (None, "send%20all", true),
        (Some("send all"), "send all", true),
        (Some("send all"), "send%20all", false),
        (Some("send%20all"), "send%20all", true),
        (Some("send%20all"), "send all", false),
    ] {
        let action = Action::of(sent, resource);
        let attributes = Attributes::default();
        let (subject_type, domain, expected_effect) = (None, None, None);
        let body = CheckBody {
            subject,
            subject_type,
            resource,
            action,
            domain,
            attributes,
            expected: expected_effect,
        };
        let check = Check::new(body, "acme", None, DateTime::UNIX_EPOCH);
        let is_allowed = plan.evaluate(&check).effect() == Effect::Allow;
        assert_eq!(is_allowed, expected, "{sent:?} {subject}");
        let explanation = plan.explain(&check, AttributeAnswers::none(), None);
        assert_eq!(explanation.rules.len(), usize::from(expected), "{sent:?} {subject}");
    }
}
