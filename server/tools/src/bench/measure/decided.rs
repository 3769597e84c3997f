//! Decides the checks before the measurements.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use portcullis_bundle::Expected;
use portcullis_engine::{DEFAULT_DENY, Decision, Effect, Matched, Verdict};
use uuid::Uuid;

use super::bench::{Bench, BenchCache, Question};
use crate::bench::checks::{CheckOrigin, decide};
use crate::bench::report::{
    CheckCounts, DecidedCase, DecisionCount, Differing, Report, TenantSize, UndeterminedChecks,
};
use crate::bench::source::Source;

/// The decision of a check.
struct Decided {
    effect: Effect,
    /// `policy`, `rule` or `default`.
    kind: &'static str,
    /// The name of the policy or rule that decided.
    decider: String,
    rule_id: Option<Uuid>,
    /// The attributes of resolvers that have no answer and can change the decision.
    unanswered: Vec<String>,
}

impl Decided {
    /// Returns the effect and the name of the policy or rule. Ids differ between sources.
    fn answer(&self) -> (Effect, &String) {
        (self.effect, &self.decider)
    }
}

/// Returns the name of the policy or rule that decided.
fn decider(decision: &Decision<'_>) -> String {
    match decision.matched() {
        Matched::Policy(judged) => judged.policy.name.to_string(),
        Matched::Rule(rule) => rule.to_string(),
        Matched::Nothing { .. } => DEFAULT_DENY.to_owned(),
    }
}

/// Returns the kind of what decided.
fn kind(decision: &Decision<'_>) -> &'static str {
    match decision.matched() {
        // Some rules are compiled to policies, but people wrote them as rules.
        Matched::Policy(judged) if judged.policy.is_rule => "rule",
        Matched::Policy(_) => "policy",
        Matched::Rule(_) => "rule",
        Matched::Nothing { .. } => "default",
    }
}

impl Bench<'_> {
    /// Decides every check from every source, and reports the decisions.
    pub(super) async fn decide(
        &self,
        questions: &[Question<'_>],
        report: &mut Report,
    ) -> anyhow::Result<()> {
        // The decisions of the first source are the ones that are reported, and the others are compared with them.
        let Some((first, others)) = self.sources.split_first() else { return Ok(()) };
        let decisions = self.decide_from(first, questions).await?;
        for source in others {
            let own = self.decide_from(source, questions).await?;
            let pairs = own.iter().zip(&decisions);
            let checks = pairs.filter(|(own, first)| own.answer() != first.answer()).count();
            if checks > 0 {
                report.differing.push(Differing { source: source.name.clone(), checks });
            }
        }
        report.cases = self.cases(&decisions);
        report.undetermined = undetermined(&decisions);
        report.outcomes = decision_counts(&decisions);
        report.checks = CheckCounts {
            count: questions.len(),
            generated: self.count(|origin| origin == CheckOrigin::Generated),
            cases: self.count(|origin| matches!(origin, CheckOrigin::Case(_))),
            replayed: self.count(|origin| origin == CheckOrigin::Replayed),
        };
        report.tenants = self.tenant_sizes(questions, &decisions);
        Ok(())
    }

    /// Decides every check with the plans of one source.
    async fn decide_from(
        &self,
        source: &Source,
        questions: &[Question<'_>],
    ) -> anyhow::Result<Vec<Decided>> {
        // A cache of its own keeps the plans of other sources away.
        let cache = BenchCache::new(self.cache_bytes);
        let mut decisions = Vec::with_capacity(questions.len());
        for question in questions {
            let cached = question.plan(&cache, source).await?;
            let plan = cached.plan();
            let decision = decide(plan, &question.check, question.resolved);
            decisions.push(Decided {
                effect: decision.effect(),
                kind: kind(&decision),
                decider: decider(&decision),
                rule_id: decision.rule_id(),
                // The decision above is settled, so the attributes that it lacks are asked for once more.
                unanswered: unanswered(&plan.decide(&question.check, question.resolved)),
            });
        }
        Ok(decisions)
    }

    /// Returns the decisions of the checks that are cases.
    fn cases(&self, decisions: &[Decided]) -> Vec<DecidedCase> {
        let mut cases = Vec::new();
        for (asked, decided) in self.asked.iter().zip(decisions) {
            let CheckOrigin::Case(index) = asked.origin else { continue };
            let Some(tenant) = self.tenants.get(asked.tenant) else { continue };
            let bundle = tenant.bundle.as_ref();
            let Some(case) = bundle.and_then(|bundle| bundle.cases.get(index)) else { continue };
            let got = Expected { decision: decided.effect, rule: Some(decided.decider.clone()) };
            cases.push(DecidedCase {
                tenant: tenant.id.clone(),
                name: case.name.clone(),
                decision: decided.effect.into_str(),
                rule: decided.decider.clone(),
                as_expected: case.expected.admits(&got),
            });
        }
        cases
    }

    /// Returns the number of checks with such an origin.
    fn count(&self, is_counted: fn(CheckOrigin) -> bool) -> usize {
        self.asked.iter().filter(|asked| is_counted(asked.origin)).count()
    }

    fn tenant_sizes(&self, questions: &[Question<'_>], decisions: &[Decided]) -> Vec<TenantSize> {
        let mut sizes = Vec::new();
        for tenant in self.tenants {
            let own = questions.iter().zip(decisions);
            let own = own.filter(|(question, _)| question.tenant.id == tenant.id);
            let resources: HashSet<&str> =
                own.clone().map(|(question, _)| question.check.resource).collect();
            // A denial by default has no id, and counts as no rule.
            let deciding: HashSet<Uuid> = own.filter_map(|(_, decided)| decided.rule_id).collect();
            sizes.push(TenantSize {
                tenant: tenant.id.clone(),
                rules: tenant.rules.len(),
                policies: tenant.policies.len(),
                resources: resources.len(),
                deciding: deciding.len(),
            });
        }
        sizes
    }
}

/// Returns the attributes that a decision still needs from resolvers.
fn unanswered(verdict: &Verdict<'_>) -> Vec<String> {
    let Verdict::NeedsAttributes(requests) = verdict else { return Vec::new() };
    let names = requests.iter().flat_map(|request| {
        let namespace = &request.namespace;
        request.attributes.iter().map(move |name| format!("{namespace}.{name}"))
    });
    names.collect()
}

/// Counts the checks that need attributes without an answer.
fn undetermined(decisions: &[Decided]) -> UndeterminedChecks {
    let without = decisions.iter().filter(|decided| !decided.unanswered.is_empty());
    let attributes: BTreeSet<&String> =
        without.clone().flat_map(|decided| &decided.unanswered).collect();
    UndeterminedChecks {
        checks: without.count(),
        attributes: attributes.into_iter().cloned().collect(),
    }
}

/// Counts the decisions by effect and by the kind of what decided.
fn decision_counts(decisions: &[Decided]) -> Vec<DecisionCount> {
    let mut counts = BTreeMap::new();
    for decided in decisions {
        *counts.entry((decided.effect.into_str(), decided.kind)).or_insert(0) += 1;
    }
    let counts = counts.into_iter();
    counts
        .map(|((decision, by), checks)| DecisionCount {
            decision,
            by,
            checks,
            // There is a count only where there is a decision, so the divisor is above zero.
            share: checks as f64 / decisions.len() as f64,
        })
        .collect()
}
