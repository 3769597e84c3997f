//! Compares the outcomes of matrix cells with the decisions of the plan: whatever the unknown attributes are, the plan
//! decides as the cell says, and as the policies of its residual do.
//!
//! The scenarios are those of the other properties, with some attributes moved to resolvers. A request gives the cell; a
//! few of its attributes stay known. Its completions keep these and take everything else from other requests: values of
//! any type, absences, and failures of resolvers.

use std::cell::RefCell;

use portcullis_engine::matrix::{MatrixCell, Outcome, PlanMatrix, Residual};
use portcullis_engine::request::{Action, Roles};
use portcullis_engine::{
    AttributeAnswers, Check, Effect, Plan, Policy, ResourcePattern, Rule, expression,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde_json::Value;

use crate::effort::run;
use crate::scenarios::scenario;
use crate::support::Request;
use crate::support::route::{asked, engine_policies, engine_rules};
use crate::two_stages::{RESOLVED, answer, resolved_policies, without_resolved};

const SCENARIOS: u32 = 300;
const REQUESTS: usize = 16;
/// A subject and a domain that no generated rule names, but that conditions of the scenarios compare.
const UNNAMED: [&str; 2] = ["abc", "eng"];

/// The kinds of attributes that a request carries.
const KINDS: [&str; 4] = ["user", "resource", "action", "context"];

/// The number of cells and completions of each kind.
#[derive(Debug, Default)]
struct Tally {
    /// Cells that are settled although policies match, and those that are not.
    settled: u32,
    depends: u32,
    /// Residuals of several policies.
    several: u32,
    /// Cells that depend, and whose completions were decided in both ways.
    both: u32,
    /// Completions of cells that depend: allowed, and denied.
    allowed: u32,
    denied: u32,
}

/// The parts of a request that a cell knows.
#[derive(Clone, Copy, Debug)]
struct Known {
    subject: bool,
    domain: bool,
    action: bool,
    /// Any attribute, by one bit for each in the order of their names.
    attributes: u32,
}

#[test]
fn outcomes_of_cells_hold_for_every_completion() {
    let tally = RefCell::new(Tally::default());
    let known = (any::<bool>(), any::<bool>(), any::<bool>(), prop_oneof![Just(0), any::<u32>()]);
    let known = known.prop_map(|(subject, domain, action, attributes)| Known {
        subject,
        domain,
        action,
        attributes,
    });
    run(SCENARIOS, &(scenario(REQUESTS), known), |(scenario, known)| {
        let policies = engine_policies(&resolved_policies(&scenario.policies));
        let rules = engine_rules(&scenario.rules);
        for request in &scenario.requests {
            let plan = Plan::compile(request.resource(), 1, &rules, policies.iter().cloned());
            let case = Case { plan: &plan, known, requests: &scenario.requests };
            case.verify(request, &mut tally.borrow_mut())?;
        }
        Ok(())
    });
    let tally = tally.into_inner();
    println!("{tally:?}");
    assert!(tally.settled >= 950, "only {} cells are settled", tally.settled);
    assert!(tally.depends >= 600, "only {} cells depend", tally.depends);
    assert!(tally.several >= 240, "only {} residuals have several policies", tally.several);
    assert!(tally.both * 3 >= tally.depends, "most cells depend on nothing that happens");
    let completions = tally.allowed + tally.denied;
    assert!(tally.allowed * 5 >= completions && tally.denied * 5 >= completions);
}

struct Case<'s> {
    plan: &'s Plan,
    known: Known,
    requests: &'s [Request],
}

impl Case<'_> {
    /// Compares the outcome of the cell that `request` gives with the decisions on its completions.
    fn verify(&self, request: &Request, tally: &mut Tally) -> TestCaseResult {
        let given = without_resolved(&with_some_attributes(request, self.known.attributes));
        asked(request, |whole| {
            let roles: Vec<String> = whole.roles.iter().map(str::to_owned).collect();
            let cell = MatrixCell {
                subject: self.known.subject.then_some(whole.subject),
                roles: &roles,
                relation: None,
                domain: self.known.domain.then_some(whole.domain),
                action: self.known.action.then_some(whole.action),
            };
            let outcome = asked(&given, |given| {
                let mut matrix = PlanMatrix::new(self.plan, given.attributes);
                // What the matrix remembers of other cells must not matter.
                let other = &roles[roles.len().min(1)..];
                let _ = matrix.outcome(&MatrixCell { subject: None, domain: None, ..cell });
                let _ = matrix.outcome(&MatrixCell { action: None, roles: other, ..cell });
                let _ = matrix.outcome(&MatrixCell { domain: Some(whole.domain), ..cell });
                matrix.outcome(&cell)
            });
            let mut effects = Vec::new();
            for number in 0..=self.requests.len() {
                effects.push(self.compare(&cell, &given, number, &outcome)?);
            }
            count(&outcome, &effects, tally);
            Ok(())
        })
    }

    /// Compares `outcome` with the decision on one completion, and returns that.
    fn compare(
        &self,
        cell: &MatrixCell<'_>,
        given: &Request,
        number: usize,
        outcome: &Outcome<'_>,
    ) -> Result<Effect, TestCaseError> {
        // The last completion leaves out everything that can be left out.
        let donor = self.requests.get(number).unwrap_or(given);
        let completed = completion(given, donor);
        asked(&completed, |other| {
            let check = Check {
                subject: cell.subject.unwrap_or(UNNAMED[number % 2]),
                subject_type: None,
                domain: cell.domain.unwrap_or(UNNAMED[number / 2 % 2]),
                action: cell.action.unwrap_or(Action::Plain(UNNAMED[number % 2])),
                roles: Roles::Claimed(cell.roles),
                ..*other
            };
            let answers = answers(&completed, number);
            let expected = self.plan.evaluate_with(&check, &answers).effect();
            let actual = match outcome {
                Outcome::Allow => Effect::Allow,
                Outcome::Deny => Effect::Deny,
                Outcome::Depends(residual) => match decided_by(residual, &check, &answers) {
                    Some(effect) => effect,
                    // A few residuals are too large to be shown. Then nobody can decide by them.
                    None => return Ok(expected),
                },
            };
            prop_assert_eq!(actual, expected, "{:?} for {:?} in {:?}", outcome, completed, cell);
            Ok(expected)
        })
    }
}

/// Decides a check by the policies of a residual alone, read back from their text. `None` if it shows no conditions.
fn decided_by(
    residual: &Residual<'_>,
    check: &Check<'_>,
    answers: &AttributeAnswers,
) -> Option<Effect> {
    let open = residual.open_policies()?;
    let policies = open.zip(0..).map(|(open, place)| {
        let text = expression::print(open.condition);
        Policy {
            id: open.policy.id,
            name: text.clone(),
            resource: ResourcePattern::Any,
            effect: open.policy.effect,
            priority: -place,
            condition: Ok(expression::parse(&text).expect("a printed condition")),
        }
    });
    let rules: [Rule; 0] = [];
    let plan = Plan::compile(check.resource, 1, &rules, policies);
    let decision = plan.evaluate_with(check, answers);
    Some(decision.rule_id().map_or(residual.otherwise(), |_| decision.effect()))
}

/// Returns the request with only some of its attributes.
fn with_some_attributes(request: &Request, chosen: u32) -> Request {
    let mut request = request.clone();
    let mut bits = (0..u32::BITS).map(|bit| chosen & 1 << bit != 0);
    for kind in KINDS {
        if let Some(attributes) = request.body["attributes"][kind].as_object_mut() {
            attributes.retain(|_, _| bits.next().unwrap_or_default());
        }
    }
    request
}

/// Returns a request with the attributes of `given`, and those of `donor` that it does not have.
fn completion(given: &Request, donor: &Request) -> Request {
    let mut completed = donor.clone();
    completed.body["resource"] = given.body["resource"].clone();
    for kind in KINDS {
        let Some(known) = given.body["attributes"].get(kind).and_then(Value::as_object) else {
            continue;
        };
        if completed.body["attributes"].get(kind).is_none() {
            completed.body["attributes"][kind] = Value::Object(Default::default());
        }
        for (name, value) in known {
            completed.body["attributes"][kind][name] = value.clone();
        }
    }
    completed
}

/// Returns the answers of resolvers for a completion. In every fourth, all of them fail.
fn answers(completed: &Request, number: usize) -> AttributeAnswers {
    let failed = RESOLVED.iter().map(|(path, _)| (*path).to_owned());
    let failed = if number % 4 == 3 { failed.collect() } else { Vec::new() };
    let completed = Request { failed, ..completed.clone() };
    let mut answers = AttributeAnswers::default();
    for (path, resolved) in RESOLVED {
        let (namespace, name) = resolved.split_once('.').expect("a path");
        answers.insert(namespace, name, answer(&completed, path));
    }
    answers
}

fn count(outcome: &Outcome<'_>, effects: &[Effect], tally: &mut Tally) {
    let Outcome::Depends(residual) = outcome else {
        tally.settled += 1;
        return;
    };
    tally.depends += 1;
    tally.several += u32::from(residual.policies().len() > 1);
    let allowed = effects.iter().filter(|effect| **effect == Effect::Allow).count();
    tally.both += u32::from(allowed > 0 && allowed < effects.len());
    tally.allowed += u32::try_from(allowed).unwrap_or_default();
    tally.denied += u32::try_from(effects.len() - allowed).unwrap_or_default();
}
