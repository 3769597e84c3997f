//! The time and the bytes of very many policies that use one named condition.

use anyhow::{Result, anyhow};
use portcullis_engine::condition::NamedConditions;
use portcullis_engine::{Effect, Plan, Policy, ResourcePattern, expression};
use portcullis_workloads::measure::load_time;
use portcullis_workloads::report::{Bar, Group};
use uuid::Uuid;

const POLICIES: usize = 2_000;
/// The tests of the condition: nearly as many as a policy may have.
const TESTS: usize = 900;

/// Makes the policies, with what the name stands for, and compiles them.
fn compiled(names: &NamedConditions, texts: &[String]) -> Result<Plan> {
    let policies = (1..).zip(texts).map(|(id, text)| {
        let written = expression::parse(text).map_err(|fault| anyhow!("{fault}"))?;
        let condition = names.resolve(written).map_err(|fault| anyhow!("{fault}"))?;
        Ok(Policy {
            id: Uuid::from_u128(id),
            name: text.clone(),
            resource: ResourcePattern::Any,
            effect: Effect::Allow,
            priority: 0,
            condition: Ok(condition),
        })
    });
    let policies: Vec<Policy> = policies.collect::<Result<_>>()?;
    Ok(Plan::compile("doc:read", 1, &[], policies))
}

/// Bars 14: the policies are compiled once with their shared condition, and the plan has it once.
pub(crate) fn named(group: &mut Group<'_>) -> Result<()> {
    let tests: Vec<String> = (0..TESTS).map(|n| format!("user.a{n} == {n}")).collect();
    let shared = expression::parse(&tests.join(" || ")).map_err(|fault| anyhow!("{fault}"))?;
    let names = NamedConditions::new([("shared".into(), shared)]);
    let texts: Vec<String> =
        (0..POLICIES).map(|n| format!("user.team == \"team-{n}\" && condition.shared")).collect();
    let plan = compiled(&names, &texts)?;
    let seconds = load_time(|| compiled(&names, &texts)).as_secs_f64();
    let what = format!("{POLICIES} policies on a name of {TESTS} tests");
    group.measurement(format!("{what}: compiled"), seconds, " s", Bar::AtMost(0.3));
    let mebibytes = plan.weight() as f64 / f64::from(1 << 20);
    group.measurement(format!("{what}: the plan"), mebibytes, " MiB", Bar::AtMost(8.0));
    Ok(())
}
