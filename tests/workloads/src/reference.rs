//! Finds the right decision: reads every rule in turn, as `docs/semantics.md`, section 2, says.

use std::collections::HashMap;

use crate::model::{
    Conditions, SampleAttribute, SamplePolicy, SampleRequest, SampleRule, Workload, attribute,
};

/// The rules and policies of a workload, by resource.
pub(crate) struct Reference<'w> {
    rules: HashMap<&'w str, Vec<&'w SampleRule>>,
    policies: HashMap<&'w str, Vec<&'w SamplePolicy>>,
}

impl Reference<'_> {
    /// Writes the right decision into every request of `workload`.
    pub(crate) fn settle(mut workload: Workload) -> Workload {
        let mut reference = Reference { rules: HashMap::new(), policies: HashMap::new() };
        for rule in &workload.rules {
            reference.rules.entry(&rule.obj).or_default().push(rule);
        }
        for policy in &workload.policies {
            reference.policies.entry(&policy.resource).or_default().push(policy);
        }
        let right: Vec<bool> =
            workload.requests.iter().map(|request| reference.allows(request)).collect();
        for (request, allow) in workload.requests.iter_mut().zip(right) {
            request.allow = allow;
        }
        workload
    }

    fn allows(&self, request: &SampleRequest) -> bool {
        match (self.policies_say(request), self.rules_say(request)) {
            (Some(false), _) | (_, Some(false)) => false,
            (policies, rules) => policies.or(rules) == Some(true),
        }
    }

    /// Deny wins over allow.
    fn rules_say(&self, request: &SampleRequest) -> Option<bool> {
        let rules = self.rules.get(&*request.resource).into_iter().flatten();
        let matching = rules.filter(|rule| rule.matches(request));
        matching.map(|rule| rule.allow).min()
    }

    /// The highest priority wins, and deny over allow.
    fn policies_say(&self, request: &SampleRequest) -> Option<bool> {
        let policies = self.policies.get(&*request.resource).into_iter().flatten();
        let applying = policies.filter(|policy| holds(&policy.conditions, request));
        applying.max_by_key(|policy| (policy.priority, !policy.allow)).map(|policy| policy.allow)
    }
}

fn holds(conditions: &Conditions, request: &SampleRequest) -> bool {
    let text = |pairs, name| attribute(pairs, name).and_then(SampleAttribute::text);
    let department = text(&request.user, "department");
    let clearance = attribute(&request.user, "clearance").and_then(SampleAttribute::number);
    let region = text(&request.object, "region");
    department == Some(&conditions.department)
        && clearance.is_some_and(|clearance| clearance >= conditions.clearance)
        && region.is_some_and(|region| conditions.regions.iter().any(|own| own == region))
}
