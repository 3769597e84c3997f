//! Cedar: one policy per rule, in small sets of policies that can match a request. A subject's roles are its parents, and
//! the attributes of a request are its context.
//!
//! Cedar has no priorities, and a `forbid` beats every `permit`. So all policies are `permit`s, Cedar finds those that hold,
//! and this module combines their effects and priorities.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context as _, Result};
use cedar_policy::{
    Authorizer, Context, Entities, Entity, EntityId, EntityTypeName, EntityUid, Policy, PolicyId,
    PolicySet, Request, RestrictedExpression,
};
use portcullis_workloads::plain_request::{PlainRequest, PlainScalar};
use portcullis_workloads::{Conditions, SampleRule, Workload};

use crate::Peer;

/// The division of policies into sets, of which a request needs one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slice {
    /// By resource.
    Resource,
    /// By resource, and policies by their department, as an index would do.
    Department,
}

/// The engine.
pub struct Cedar {
    slice: Slice,
    authorizer: Authorizer,
    entities: Entities,
    sets: HashMap<String, PolicySet>,
    /// The effect and priority of each policy; `None` for a rule.
    effects: HashMap<PolicyId, (Option<i32>, bool)>,
    types: [EntityTypeName; 3],
}

impl Cedar {
    /// Loads the rules and policies of `workload`.
    ///
    /// # Errors
    /// The error of Cedar.
    pub fn load(workload: &Workload, slice: Slice) -> Result<Self> {
        let name = |name: &str| -> Result<EntityTypeName> { Ok(name.parse()?) };
        let types = [name("User")?, name("Action")?, name("Resource")?];
        let mut cedar = Self {
            slice,
            authorizer: Authorizer::new(),
            entities: users(workload, &types[0])?,
            sets: HashMap::new(),
            effects: HashMap::new(),
            types,
        };
        for rule in &workload.rules {
            cedar.change(rule, true)?;
        }
        for policy in &workload.policies {
            let id = PolicyId::new(format!("policy {}", policy.id));
            let slice = cedar.slice_of(&policy.resource, &policy.conditions.department);
            let text = format!(
                r#"permit(principal, action, resource == Resource::"{}") when {{ {} }};"#,
                policy.resource,
                expression(&policy.conditions)
            );
            cedar.effects.insert(id.clone(), (Some(policy.priority), policy.allow));
            cedar.sets.entry(slice).or_default().add(Policy::parse(Some(id), text)?)?;
        }
        Ok(cedar)
    }

    fn slice_of(&self, resource: &str, department: &str) -> String {
        match self.slice {
            Slice::Resource => resource.to_owned(),
            Slice::Department => format!("{resource} {department}"),
        }
    }

    fn uid(&self, of: usize, id: &str) -> EntityUid {
        EntityUid::from_type_name_and_id(self.types[of].clone(), EntityId::new(id))
    }

    /// Combines effects by `docs/semantics.md`, section 2.6.
    fn weigh<'i>(&self, holding: impl Iterator<Item = &'i PolicyId>) -> bool {
        let (mut by_rule, mut by_policy) = (None, None);
        for (priority, allow) in holding.filter_map(|id| self.effects.get(id)) {
            match priority {
                None => by_rule = Some(by_rule.unwrap_or(true) && *allow),
                Some(priority) => by_policy = by_policy.max(Some((*priority, !*allow))),
            }
        }
        match (by_policy, by_rule) {
            (Some((_, true)), _) | (_, Some(false)) => false,
            (by_policy, by_rule) => by_policy.is_some() || by_rule.is_some(),
        }
    }
}

impl Peer for Cedar {
    fn allows(&mut self, request: &PlainRequest<'_>) -> Result<bool> {
        let attributes = request.attributes.user.0.iter().chain(&request.attributes.resource.0);
        let mut department = "";
        let context = attributes.filter_map(|(name, value)| {
            let value = match value {
                PlainScalar::Text(text) => RestrictedExpression::new_string((*text).to_owned()),
                PlainScalar::Number(number) => RestrictedExpression::new_long(*number),
                PlainScalar::Texts(_) => return None,
            };
            Some(((*name).to_owned(), value))
        });
        let context = Context::from_pairs(context)?;
        if self.slice == Slice::Department
            && let Some((_, PlainScalar::Text(text))) =
                request.attributes.user.0.iter().find(|(name, _)| *name == "department")
        {
            department = text;
        }
        let slice = self.slice_of(request.resource, department);
        let Some(policies) = self.sets.get(&slice) else { return Ok(false) };
        let [user, action, resource] =
            [request.subject, request.action, request.resource].map(|id| id.to_owned());
        let request = Request::new(
            self.uid(0, &user),
            self.uid(1, &action),
            self.uid(2, &resource),
            context,
            None,
        )?;
        let answer = self.authorizer.is_authorized(&request, policies, &self.entities);
        Ok(self.weigh(answer.diagnostics().reason()))
    }

    fn change(&mut self, rule: &SampleRule, present: bool) -> Result<()> {
        let id = PolicyId::new(format!("rule {}", rule.id));
        if !present {
            let set = self.sets.get_mut(&rule.obj).context("the rule's resource has none")?;
            set.remove_static(id)?;
            return Ok(());
        }
        let text = format!(
            r#"permit(principal in Role::"{}", action == Action::"{}", resource == Resource::"{}");"#,
            rule.sub, rule.act, rule.obj
        );
        self.effects.insert(id.clone(), (None, rule.allow));
        self.sets.entry(rule.obj.clone()).or_default().add(Policy::parse(Some(id), text)?)?;
        Ok(())
    }
}

fn expression(conditions: &Conditions) -> String {
    format!(
        "context.department == {:?} && context.clearance >= {} && {:?}.contains(context.region)",
        conditions.department, conditions.clearance, conditions.regions
    )
}

/// Returns every subject of the workload, with its roles as parents.
fn users(workload: &Workload, user: &EntityTypeName) -> Result<Entities> {
    let role: EntityTypeName = "Role".parse()?;
    let uid = |of: &EntityTypeName, id: &str| {
        EntityUid::from_type_name_and_id(of.clone(), EntityId::new(id))
    };
    let users: BTreeMap<&str, HashSet<EntityUid>> = workload
        .requests
        .iter()
        .map(|request| {
            let roles = request.roles.iter().map(|name| uid(&role, name)).collect();
            (&*request.subject, roles)
        })
        .collect();
    let entities = users.into_iter().map(|(id, roles)| Entity::new_no_attrs(uid(user, id), roles));
    Ok(Entities::from_entities(entities, None)?)
}
