//! Bar 9: the outcomes of 50 roles × 500 actions, by partial evaluation.

use anyhow::{Result, anyhow, ensure};
use fastrand::Rng;
use portcullis_engine::matrix::{MatrixCell, Outcome, PlanMatrix};
use portcullis_engine::request::{Action, Attributes};
use portcullis_engine::{Effect, Plan, Policy, ResourcePattern, Rule, RuleTuple, expression};
use portcullis_workloads::DOMAIN;
use portcullis_workloads::measure::load_time;
use portcullis_workloads::report::{Bar, Group};
use uuid::Uuid;

const ROLES: usize = 50;
/// Each action is the verb of one resource, which has its own plan.
const ACTIONS: usize = 500;
/// The rules and the policies of each resource. Half of the policies read the roles, so that roles differ in their
/// outcomes.
const RULES: usize = 10;
const POLICIES: usize = 6;

/// The number of cells of each outcome, and the bytes of all conditions.
#[derive(Default)]
struct Counts {
    allow: usize,
    deny: usize,
    depends: usize,
    text: usize,
}

/// One role for each row, as the only one of a subject.
fn roles() -> Vec<Vec<String>> {
    (0..ROLES).map(|role| vec![format!("role{role}")]).collect()
}

fn action(number: usize) -> String {
    format!("action{number}")
}

fn resource(number: usize) -> String {
    format!("object{}:{}", number / 10, action(number))
}

/// Generates the plans of all actions.
fn plans() -> Result<Vec<Plan>> {
    let mut rng = Rng::with_seed(9);
    (0..ACTIONS)
        .map(|number| {
            let rules: Vec<Rule> = (0..RULES).map(|nth| rule(number, nth, &mut rng)).collect();
            let policies: Result<Vec<Policy>> =
                (0..POLICIES).map(|nth| policy(number, nth, &mut rng)).collect();
            Ok(Plan::compile(&resource(number), 1, &rules, policies?))
        })
        .collect()
}

fn rule(number: usize, nth: usize, rng: &mut Rng) -> Rule {
    let tuple = RuleTuple {
        sub: format!("role{}", rng.usize(..ROLES)),
        dom: DOMAIN.to_owned(),
        obj: ResourcePattern::Exact(resource(number)),
        act: action(number),
    };
    let effect = if rng.u8(..5) > 0 { Effect::Allow } else { Effect::Deny };
    Rule { id: id(number, nth), tuple, effect }
}

fn policy(number: usize, nth: usize, rng: &mut Rng) -> Result<Policy> {
    let (role, level) = (rng.usize(..ROLES), rng.u8(1..9));
    let own = format!("user.department == resource.department && user.level >= {level}");
    let text = match nth % 2 {
        0 => format!(r#"request.roles contains "role{role}" && {own}"#),
        _ => format!("{own} && request.domain == \"{DOMAIN}\" && resource.region in [1, 2, 3]"),
    };
    Ok(Policy {
        id: id(number, RULES + nth),
        name: format!("policy {nth} of {number}"),
        resource: ResourcePattern::Exact(resource(number)),
        effect: if rng.u8(..5) > 0 { Effect::Allow } else { Effect::Deny },
        priority: rng.i32(1..=10),
        condition: Ok(expression::parse(&text).map_err(|fault| anyhow!("{fault}"))?),
    })
}

fn id(number: usize, nth: usize) -> Uuid {
    Uuid::from_u64_pair(number as u64, nth as u64)
}

/// Decides every cell, and writes the conditions if they are wanted.
fn decide(plans: &[Plan], roles: &[Vec<String>], with_texts: bool) -> Counts {
    let mut counts = Counts::default();
    for (number, plan) in plans.iter().enumerate() {
        let action = action(number);
        let mut matrix = PlanMatrix::new(plan, Attributes::default());
        for roles in roles {
            let (domain, action) = (Some(DOMAIN), Some(Action::Plain(&action)));
            let cell = MatrixCell { subject: None, roles, relation: None, domain, action };
            match matrix.outcome(&cell) {
                Outcome::Allow => counts.allow += 1,
                Outcome::Deny => counts.deny += 1,
                Outcome::Depends(residual) => {
                    counts.depends += 1;
                    let text = if with_texts { residual.text() } else { None };
                    counts.text += text.map_or(0, str::len);
                }
            }
        }
    }
    counts
}

pub(crate) fn matrix(group: &mut Group<'_>) -> Result<()> {
    let (plans, roles) = (plans()?, roles());
    let counts = decide(&plans, &roles, true);
    let Counts { allow, deny, depends, text } = counts;
    ensure!(allow + deny + depends == ROLES * ACTIONS, "every cell has an outcome");
    ensure!(deny > 0 && depends * 2 > ROLES * ACTIONS && text > 0, "most cells depend");
    let milliseconds =
        |with_texts| load_time(|| decide(&plans, &roles, with_texts)).as_secs_f64() * 1e3;
    let what = "50 roles × 500 actions";
    group.measurement(format!("{what}: outcomes"), milliseconds(false), " ms", Bar::AtMost(50.0));
    group.measurement(
        format!("{what}: outcomes and their conditions as text"),
        milliseconds(true),
        " ms",
        Bar::Shown,
    );
    let share = depends as f64 / (ROLES * ACTIONS) as f64 * 100.0;
    group.measurement(format!("{what}: cells that depend"), share, " %", Bar::Shown);
    Ok(())
}
