//! What the checks come out as, before anything is timed.

use std::collections::{BTreeMap, HashSet};

use portcullis_engine::{DEFAULT_DENY, Decision, Matched};
use portcullis_plan_cache::PlanCache;

use super::{Bench, Question};
use crate::checks::Origin;
use crate::report::{Checks, DecidedCase, Differing, Outcome, Report, TenantSize};

/// What decided, as people call it.
fn decider(decision: &Decision<'_>) -> String {
    match decision.matched() {
        Matched::Policy { policy, .. } => policy.name.to_string(),
        Matched::Rule(rule) => {
            format!("{}, {}, {}, {}", rule.sub, rule.dom, rule.obj(), rule.act)
        }
        Matched::Nothing { .. } => DEFAULT_DENY.to_owned(),
    }
}

fn kind(decision: &Decision<'_>) -> &'static str {
    match decision.matched() {
        Matched::Policy { .. } => "policy",
        Matched::Rule(_) => "rule",
        Matched::Nothing { .. } => "default",
    }
}

impl Bench<'_> {
    /// Decides every check from every source, and notes what came out.
    pub(super) async fn decide(
        &self,
        questions: &[Question<'_>],
        report: &mut Report,
    ) -> anyhow::Result<()> {
        let mut first = Vec::new();
        let mut outcomes = BTreeMap::new();
        let mut deciding = HashSet::new();
        for (index, source) in self.sources.iter().enumerate() {
            let cache = PlanCache::new(self.cache_bytes);
            let mut differing = 0;
            for (position, question) in questions.iter().enumerate() {
                let cached = question.plan(&cache, source).await?;
                let decision = cached.plan().evaluate_with(&question.check, question.resolved);
                let answer = (decision.effect(), decider(&decision));
                if index > 0 {
                    differing += usize::from(first.get(position) != Some(&answer));
                    continue;
                }
                *outcomes.entry((decision.effect().as_str(), kind(&decision))).or_insert(0) += 1;
                deciding.extend(decision.rule_id().map(|id| (question.tenant.id.as_str(), id)));
                first.push(answer);
            }
            if differing > 0 {
                let source = source.name.clone();
                report.differing.push(Differing { source, checks: differing });
            }
        }
        let answers = self.asked.iter().zip(&first);
        report.cases = answers
            .filter_map(|(asked, (effect, rule))| {
                let Origin::Case(index) = asked.origin else { return None };
                let tenant = self.tenants.get(asked.tenant)?;
                let case = tenant.bundle.as_ref()?.cases.get(index)?;
                let expected = &case.expected;
                Some(DecidedCase {
                    tenant: tenant.id.clone(),
                    name: case.name.clone(),
                    decision: effect.as_str(),
                    rule: rule.clone(),
                    as_expected: (expected.decision, &expected.rule) == (*effect, rule),
                })
            })
            .collect();
        report.outcomes = outcomes
            .into_iter()
            .map(|((decision, by), checks)| {
                let share = checks as f64 / questions.len() as f64;
                Outcome { decision, by, checks, share }
            })
            .collect();
        let of = |wanted: fn(Origin) -> bool| {
            self.asked.iter().filter(|asked| wanted(asked.origin)).count()
        };
        report.checks = Checks {
            count: questions.len(),
            generated: of(|origin| origin == Origin::Generated),
            cases: of(|origin| matches!(origin, Origin::Case(_))),
            replayed: of(|origin| origin == Origin::Replayed),
        };
        report.tenants = self
            .tenants
            .iter()
            .map(|tenant| {
                let own = questions.iter().filter(|question| question.tenant.id == tenant.id);
                let resources: HashSet<&str> = own.map(|own| own.check.resource).collect();
                TenantSize {
                    tenant: tenant.id.clone(),
                    rules: tenant.rules.len(),
                    policies: tenant.policies.len(),
                    resources: resources.len(),
                    deciding: deciding.iter().filter(|(id, _)| *id == tenant.id).count(),
                }
            })
            .collect();
        Ok(())
    }
}
