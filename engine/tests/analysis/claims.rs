//! The claims of the analysis about a list of policies.

use portcullis_engine::Policy;
use portcullis_engine::analysis::{Analysis, AnalyzedPolicy};

/// Returns each policy of which the analysis claims that it never decides, with the policy that applies whenever it does;
/// without one, it never applies. The policies are in deciding order. Those that do not compile are left out.
pub(crate) fn claims(policies: &[Policy]) -> Vec<(usize, Option<usize>)> {
    let mut analysis = Analysis::new(usize::MAX);
    let analyzed: Vec<Option<AnalyzedPolicy<'_>>> = policies
        .iter()
        .map(|Policy { resource, effect, condition, .. }| {
            let condition = condition.as_ref().ok()?;
            Some(AnalyzedPolicy { resource, effect: *effect, condition })
        })
        .collect();
    let mut claims = Vec::new();
    for (at, policy) in analyzed.iter().enumerate() {
        let Some(policy) = *policy else { continue };
        if analysis.never_applies(policy) == Some(true) {
            claims.push((at, None));
            continue;
        }
        let by = (0..at)
            .find(|by| analyzed[*by].is_some_and(|by| analysis.implies(policy, by) == Some(true)));
        claims.extend(by.map(|by| (at, Some(by))));
    }
    claims
}
