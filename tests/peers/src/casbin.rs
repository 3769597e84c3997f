//! casbin: one model for allow rules, one for deny rules and one for policies, so that each can stop at the first match.
//! The cheapest comparison comes first in a matcher.
//!
//! Policies are text fields that a matcher compares. So numbers have leading zeros, and a function of the host finds a
//! region in a list. casbin has no index; [`Cached`] uses its cache of decisions instead.

use anyhow::Result;
use casbin::DefaultCache;
use casbin::function_map::OperatorFunction;
use casbin::prelude::*;
use portcullis_workloads::plain_request::{PlainRequest, PlainScalar};
use portcullis_workloads::{SamplePolicy, SampleRequest, SampleRule, Workload};
use tokio::runtime::{Builder, Runtime};

use crate::Peer;

const RULES: &str = "
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.obj == p.obj && r.act == p.act && g(r.sub, p.sub)
";

/// The last policy holds for every subject with an allow rule.
const POLICIES: &str = "
[request_definition]
r = obj, department, clearance, region, ruled
[policy_definition]
p = obj, department, clearance, regions, eft
[policy_effect]
e = priority(p.eft) || deny
[matchers]
m = r.department == p.department && r.obj == p.obj && r.clearance >= p.clearance && lists(p.regions, r.region) || p.obj == r.ruled
";

/// The placeholder for a resource in the last policy.
const RULED: &str = "ruled";

/// The engine, with enforcers of the kind `E`.
pub struct Casbin<E> {
    runtime: Runtime,
    allowing: Option<E>,
    denying: Option<E>,
    policies: Option<E>,
}

/// Enforcers that read their policies for every request.
pub type Plain = Enforcer;
/// Enforcers that cache their answers by the whole request.
pub type Cached = CachedEnforcer;

/// A kind of enforcer.
pub trait Kind: CoreApi + MgmtApi + RbacApi + Sized {
    /// Sets the capacity of the cache to the number of requests.
    fn make_room(&mut self, requests: usize);
}

impl Kind for Plain {
    fn make_room(&mut self, _: usize) {}
}

impl Kind for Cached {
    fn make_room(&mut self, requests: usize) {
        self.set_cache(Box::new(DefaultCache::new(4 * requests)));
    }
}

impl<E: Kind> Casbin<E> {
    /// Loads the rules and policies of `workload`.
    ///
    /// # Errors
    /// The error of casbin.
    pub fn load(workload: &Workload) -> Result<Self> {
        let runtime = Builder::new_current_thread().build()?;
        let rules = |allow| rules(&workload.rules, &workload.requests, allow);
        let (allowing, denying, policies) = runtime.block_on(async {
            Ok::<_, anyhow::Error>((
                rules(true).await?,
                rules(false).await?,
                policies(&workload.policies, workload.requests.len()).await?,
            ))
        })?;
        Ok(Self { runtime, allowing, denying, policies })
    }
}

async fn rules<E: Kind>(
    rules: &[SampleRule],
    requests: &[SampleRequest],
    allow: bool,
) -> Result<Option<E>> {
    let rules: Vec<_> = rules.iter().filter(|rule| rule.allow == allow).map(line).collect();
    if rules.is_empty() {
        return Ok(None);
    }
    let mut links: Vec<Vec<String>> = requests
        .iter()
        .flat_map(|request| {
            request.roles.iter().map(|role| vec![request.subject.clone(), role.clone()])
        })
        .collect();
    links.sort_unstable();
    links.dedup();
    let mut enforcer =
        E::new(DefaultModel::from_str(RULES).await?, MemoryAdapter::default()).await?;
    enforcer.make_room(requests.len());
    enforcer.add_policies(rules).await?;
    enforcer.add_grouping_policies(links).await?;
    Ok(Some(enforcer))
}

async fn policies<E: Kind>(policies: &[SamplePolicy], requests: usize) -> Result<Option<E>> {
    if policies.is_empty() {
        return Ok(None);
    }
    let mut policies: Vec<_> = policies.iter().collect();
    policies.sort_by_key(|policy| (std::cmp::Reverse(policy.priority), policy.allow, policy.id));
    let effect = |allow| if allow { "allow" } else { "deny" }.to_owned();
    let mut lines: Vec<_> = policies
        .into_iter()
        .map(|policy| {
            let conditions = &policy.conditions;
            let (resource, department) = (policy.resource.clone(), conditions.department.clone());
            let regions = conditions.regions.join(" ");
            vec![resource, department, padded(conditions.clearance), regions, effect(policy.allow)]
        })
        .collect();
    let none = String::new;
    lines.push(vec![RULED.to_owned(), none(), none(), none(), effect(true)]);
    let model = DefaultModel::from_str(POLICIES).await?;
    let mut enforcer = E::new(model, MemoryAdapter::default()).await?;
    enforcer.make_room(requests);
    let lists = |regions: casbin::rhai::Dynamic, region: casbin::rhai::Dynamic| {
        let [regions, region] = [regions, region].map(|text| text.into_immutable_string());
        matches!((regions, region), (Ok(regions), Ok(region)) if regions.split(' ').any(|own| own == region)).into()
    };
    enforcer.add_function("lists", OperatorFunction::Arg2(lists));
    enforcer.add_policies(lines).await?;
    Ok(Some(enforcer))
}

impl<E: Kind> Peer for Casbin<E> {
    fn allows(&mut self, request: &PlainRequest<'_>) -> Result<bool> {
        let matches = |enforcer: &Option<E>| match enforcer {
            Some(enforcer) => enforcer.enforce((request.subject, request.resource, request.action)),
            None => Ok(false),
        };
        if matches(&self.denying)? {
            return Ok(false);
        }
        let ruled = matches(&self.allowing)?;
        let Some(policies) = &self.policies else { return Ok(ruled) };
        let (mut department, mut clearance, mut region) = ("", String::new(), "");
        for pair in request.attributes.user.0.iter().chain(&request.attributes.resource.0) {
            match pair {
                ("department", PlainScalar::Text(text)) => department = text,
                ("clearance", PlainScalar::Number(number)) => clearance = padded(*number),
                ("region", PlainScalar::Text(text)) => region = text,
                _ => {}
            }
        }
        let ruled = if ruled { RULED } else { "" };
        Ok(policies.enforce((request.resource, department, clearance, region, ruled))?)
    }

    fn change(&mut self, rule: &SampleRule, present: bool) -> Result<()> {
        let enforcer = if rule.allow { &mut self.allowing } else { &mut self.denying };
        let Some(enforcer) = enforcer else { return Ok(()) };
        self.runtime.block_on(async {
            if present {
                enforcer.add_policy(line(rule)).await
            } else {
                enforcer.remove_policy(line(rule)).await
            }
        })?;
        Ok(())
    }
}

fn line(rule: &SampleRule) -> Vec<String> {
    vec![rule.sub.clone(), rule.obj.clone(), rule.act.clone()]
}

/// Writes a number with leading zeros, so that texts compare like numbers.
fn padded(number: i64) -> String {
    format!("{number:04}")
}
