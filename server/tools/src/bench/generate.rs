//! Makes checks from a tenant's own rules. Each rule and policy gets a check that it decides, if one is found. Other
//! checks differ from these in one or two values, or are about an unknown resource.

mod draft;
mod solve;
mod text;
mod vocabulary;

use std::collections::HashMap;

use fastrand::Rng;
use portcullis_engine::{AttributeAnswers, Plan, ResourcePattern, Rule};
use uuid::Uuid;

use crate::bench::checks::{CheckOrigin, MeasuredCheck, decide};
use crate::bench::tenant::Tenant;
use draft::Draft;
use solve::Solver;
use vocabulary::Vocabulary;

/// The smallest number of checks of a tenant. As many do not fit in the processor's fastest cache.
const FEWEST: usize = 1_024;
/// The largest number of rules and policies that get a check.
const MAX_TARGETS: usize = 4_096;
/// The number of changes to a check until its rule or policy decides it. A rule or policy without success by then nearly
/// always never decides, because others decide first.
const MAX_CHANGES: usize = 64;

/// Makes the checks of the tenant with the index `tenant`.
pub(super) fn checks(tenant: usize, tenants: &[Tenant], rng: Rng) -> Vec<MeasuredCheck> {
    let Some(subject) = tenants.get(tenant) else { return Vec::new() };
    let mut generator = Generator::new(subject, rng);
    generator.drafts().iter().map(|draft| generated(tenant, draft)).collect()
}

fn generated(tenant: usize, draft: &Draft) -> MeasuredCheck {
    MeasuredCheck {
        tenant,
        origin: CheckOrigin::Generated,
        body: draft.body(),
        caller: draft.token(),
        now: draft.now,
        resolved: AttributeAnswers::default(),
    }
}

/// The position of the rule or policy that a check is made for.
#[derive(Clone, Copy, Debug)]
enum Target {
    Rule(usize),
    Policy(usize),
}

struct Generator<'a> {
    tenant: &'a Tenant,
    words: Vocabulary,
    rng: Rng,
    plans: HashMap<String, Plan>,
    /// The position of each rule and policy.
    positions: HashMap<Uuid, Target>,
}

impl<'a> Generator<'a> {
    fn new(tenant: &'a Tenant, rng: Rng) -> Self {
        let rules = tenant.rules.iter().enumerate();
        let rules = rules.map(|(index, rule)| (rule.id, Target::Rule(index)));
        let policies = tenant.policies.iter().enumerate();
        let policies = policies.map(|(index, policy)| (policy.id, Target::Policy(index)));
        Self {
            tenant,
            words: Vocabulary::new(tenant),
            rng,
            plans: HashMap::new(),
            positions: rules.chain(policies).collect(),
        }
    }

    fn drafts(&mut self) -> Vec<Draft> {
        let rules = (0..self.tenant.rules.len()).map(Target::Rule);
        let policies = (0..self.tenant.policies.len()).map(Target::Policy);
        let mut targets: Vec<Target> = rules.chain(policies).collect();
        if targets.is_empty() {
            return Vec::new();
        }
        // The choice is random but depends on the seed alone, so that a run can be repeated.
        if targets.len() > MAX_TARGETS {
            self.rng.shuffle(&mut targets);
            targets.truncate(MAX_TARGETS);
        }
        let mut drafts: Vec<Draft> =
            targets.into_iter().map(|target| self.decided_by(target)).collect();
        let aimed = drafts.len();
        // About a fifth of the checks, or more, are variations, which often have no decider.
        while drafts.len() < FEWEST.max(aimed + aimed / 4) {
            let like = self.rng.usize(..aimed);
            // Variations are made of aimed drafts only, and not of other variations.
            let mut draft = drafts[like].clone();
            self.vary(&mut draft);
            drafts.push(draft);
        }
        self.rng.shuffle(&mut drafts);
        drafts
    }

    /// Returns a check that `target` decides, or the last try.
    fn decided_by(&mut self, target: Target) -> Draft {
        let pattern = match target {
            Target::Rule(index) => &self.tenant.rules[index].tuple.obj,
            Target::Policy(index) => &self.tenant.policies[index].resource,
        };
        let resource = self.resource(pattern);
        let mut draft = self.words.draft(&mut self.rng, &self.tenant.domain, resource);
        for _ in 0..MAX_CHANGES {
            self.bring_about(&mut draft, target, true);
            let Some(decider) = self.decider(&draft) else { continue };
            // Where another one decides, it is kept from deciding, and the target has another try.
            match self.positions.get(&decider) {
                Some(other) if !other.is(target) => self.bring_about(&mut draft, *other, false),
                // A decider that is no target cannot be kept from deciding, and the draft is good enough.
                _ => return draft,
            }
        }
        draft
    }

    /// Makes the rule match or the condition true, or prevents it.
    fn bring_about(&mut self, draft: &mut Draft, target: Target, wanted: bool) {
        match target {
            Target::Rule(index) => {
                let rule = &self.tenant.rules[index];
                if wanted { self.make_match(draft, rule) } else { self.prevent(draft, rule) }
            }
            Target::Policy(index) => {
                if let Ok(condition) = &self.tenant.policies[index].condition {
                    Solver { draft, words: &self.words, rng: &mut self.rng }
                        .satisfy(condition, wanted);
                }
            }
        }
    }

    fn make_match(&mut self, draft: &mut Draft, rule: &Rule) {
        let tuple = &rule.tuple;
        if tuple.sub != "*" && !draft.is_principal(&tuple.sub) {
            // A rule does not say whether its `sub` is a subject or a role.
            if self.words.is_user(&tuple.sub) || self.rng.u8(..4) == 0 {
                draft.subject.clone_from(&tuple.sub);
            } else {
                draft.roles.push(tuple.sub.clone());
            }
        }
        if tuple.dom != "*" {
            draft.domain.clone_from(&tuple.dom);
        }
        if tuple.act != "*" {
            draft.action.clone_from(&tuple.act);
        }
    }

    fn prevent(&mut self, draft: &mut Draft, rule: &Rule) {
        let tuple = &rule.tuple;
        if tuple.sub != "*" {
            draft.roles.retain(|role| *role != tuple.sub);
            // The `sub` may be both a role and the subject, so both are changed.
            if draft.subject == tuple.sub {
                draft.subject = self.words.stranger(&mut self.rng);
            }
        } else if tuple.act != "*" {
            draft.action = self.words.action(&mut self.rng);
        }
    }

    /// Returns the id of the rule or policy that decides the check; `None` if nothing matches.
    fn decider(&mut self, draft: &Draft) -> Option<Uuid> {
        let plan = self
            .plans
            .entry(draft.resource.clone())
            .or_insert_with(|| self.tenant.plan(&draft.resource));
        // The tenant stands alone in the slice below, so its index is 0.
        let asked = generated(0, draft);
        let check = asked.check(std::slice::from_ref(self.tenant))?;
        decide(plan, &check, &asked.resolved).rule_id()
    }

    /// Returns a resource that `pattern` matches.
    fn resource(&mut self, pattern: &ResourcePattern) -> String {
        let known: Vec<&String> =
            self.words.resources.iter().filter(|known| pattern.matches(known)).collect();
        match (self.rng.choice(known), pattern) {
            (Some(known), _) => known.clone(),
            (None, ResourcePattern::Name(name)) => format!("{name}:other"),
            (None, ResourcePattern::Exact(resource)) => resource.clone(),
            (None, ResourcePattern::Any) => "something:other".to_owned(),
        }
    }

    /// Changes one or two values.
    fn vary(&mut self, draft: &mut Draft) {
        for _ in 0..=self.rng.usize(..2) {
            match self.rng.u8(..8) {
                0 => draft.subject = self.words.stranger(&mut self.rng),
                1 => draft.action = self.words.action(&mut self.rng),
                2 => draft.roles = self.words.roles(&mut self.rng),
                3 => draft.forget(&mut self.rng),
                4 => draft.resource = "unknown:read".to_owned(),
                5 => {
                    if let Some(resource) = self.rng.choice(&self.words.resources) {
                        draft.resource.clone_from(resource);
                    }
                }
                // A range without numbers would panic below.
                _ if self.tenant.policies.is_empty() => {}
                _ => {
                    let policy = Target::Policy(self.rng.usize(..self.tenant.policies.len()));
                    let wanted = self.rng.bool();
                    self.bring_about(draft, policy, wanted);
                }
            }
        }
    }
}

impl Target {
    fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Rule(own), Self::Rule(other)) | (Self::Policy(own), Self::Policy(other)) => {
                own == other
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
