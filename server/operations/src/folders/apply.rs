//! Makes what a tenant has stored equal to its files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use crate::registration::register;
use portcullis_bundle::Bundle;
use portcullis_model::Authorship;
use portcullis_model::ids::Ids;
use portcullis_model::page::Page;
use portcullis_model::policy::{NewPolicy, PolicyRecord};
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_model::role::{NewRole, RoleRecord};
use portcullis_model::rule::{NewRule, RuleOrigin};
use portcullis_storage::{StoreError, Tx, policies, resources, roles, rules};

/// A change of one stored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectChange {
    pub kind: ChangeKind,
    /// The kind of the object, such as `rule`.
    pub object: &'static str,
    pub name: String,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Changed,
    Removed,
}

impl ObjectChange {
    pub fn new(kind: ChangeKind, object: &'static str, name: impl ToString) -> Self {
        Self { kind, object, name: name.to_string() }
    }
}

impl fmt::Display for ObjectChange {
    /// Writes `+`, `~` or `-`, then the object.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.kind {
            ChangeKind::Added => '+',
            ChangeKind::Changed => '~',
            ChangeKind::Removed => '-',
        };
        write!(f, "{sign} {} `{}`", self.object, self.name)
    }
}

/// Makes the rules, roles, policies and resources of the transaction's tenant those of `bundle`, and returns the changes.
/// Objects that do not differ keep their ids. The tenant must be the bundle's.
pub async fn apply(
    tx: &mut Tx,
    bundle: &Bundle,
    by: &Authorship,
    ids: &Ids,
) -> Result<Vec<ObjectChange>, StoreError> {
    let mut work = Work { tx, by, ids, changes: Vec::new() };
    // The order of the files: explicit rules first, so that a default role makes no second rule.
    work.rules(&rules_with_origins(bundle)).await?;
    work.roles(bundle.roles.as_deref().unwrap_or_default()).await?;
    work.policies(&bundle.policies).await?;
    work.resources(&bundle.resources, &bundle.tenant).await?;
    Ok(work.changes)
}

/// Removes the rules, roles, policies and resources of the transaction's tenant, and returns the changes.
pub async fn clear(
    tx: &mut Tx,
    by: &Authorship,
    ids: &Ids,
) -> Result<Vec<ObjectChange>, StoreError> {
    let domain = tx.tenant().to_owned();
    let mut work = Work { tx, by, ids, changes: Vec::new() };
    work.rules(&[]).await?;
    work.roles(&[]).await?;
    work.policies(&[]).await?;
    work.resources(&[], &domain).await?;
    Ok(work.changes)
}

/// Returns the rules in force: the explicit ones, and then those of default roles.
fn rules_with_origins(bundle: &Bundle) -> Vec<(NewRule, RuleOrigin)> {
    let explicit: HashSet<String> = bundle.rules.iter().map(name).collect();
    let rules = bundle.rulebook.rules().iter().map(|rule| {
        let rule = NewRule { tuple: rule.tuple.clone(), effect: rule.effect };
        let origin = match explicit.contains(&name(&rule)) {
            true => RuleOrigin::Explicit,
            false => RuleOrigin::DefaultRole,
        };
        (rule, origin)
    });
    rules.collect()
}

/// Returns the tuple as text, which names one rule.
fn name(rule: &NewRule) -> String {
    rule.tuple.to_string()
}

/// The changes of one transaction.
struct Work<'a> {
    tx: &'a mut Tx,
    by: &'a Authorship,
    ids: &'a Ids,
    changes: Vec<ObjectChange>,
}

impl Work<'_> {
    fn note(&mut self, kind: ChangeKind, object: &'static str, name: impl ToString) {
        self.changes.push(ObjectChange::new(kind, object, name));
    }

    async fn rules(&mut self, wanted: &[(NewRule, RuleOrigin)]) -> Result<(), StoreError> {
        let names: HashSet<String> = wanted.iter().map(|(rule, _)| name(rule)).collect();
        for stored in rules::of_every_plan(self.tx).await? {
            if names.contains(&stored.tuple.to_string()) {
                continue;
            }
            if let Some(record) = rules::find(self.tx, stored.id).await? {
                rules::delete(self.tx, &record, self.by).await?;
                self.note(ChangeKind::Removed, "rule", &record.tuple);
            }
        }
        for (rule, origin) in wanted {
            self.rule(rule, *origin).await?;
        }
        Ok(())
    }

    async fn rule(&mut self, rule: &NewRule, origin: RuleOrigin) -> Result<(), StoreError> {
        let Some(old) = rules::find_by_tuple(self.tx, &rule.tuple).await? else {
            let record = rule.clone().into_record(self.ids.next(self.by.at), origin, self.by);
            rules::insert(self.tx, &record).await?;
            self.note(ChangeKind::Added, "rule", &rule.tuple);
            return Ok(());
        };
        if (old.effect, old.origin) == (rule.effect, origin) {
            return Ok(());
        }
        let mut new = old.clone();
        (new.effect, new.origin) = (rule.effect, origin);
        new.updated_by = Some(self.by.actor.clone());
        new.updated_at = Some(self.by.at);
        rules::update(self.tx, &old, &new, self.by).await?;
        self.note(ChangeKind::Changed, "rule", &rule.tuple);
        Ok(())
    }

    async fn roles(&mut self, wanted: &[NewRole]) -> Result<(), StoreError> {
        let mut stored: BTreeMap<String, RoleRecord> = BTreeMap::new();
        for record in roles::all(self.tx).await? {
            stored.insert(record.name.clone(), record);
        }
        for role in wanted {
            let (kind, record) = match stored.remove(&role.name) {
                Some(old) if old.includes == role.includes => continue,
                Some(old) => {
                    (ChangeKind::Changed, old.with_includes(role.includes.clone(), self.by))
                }
                None => (ChangeKind::Added, role.clone().into_record(self.by)),
            };
            roles::store(self.tx, &record).await?;
            self.note(kind, "role", &role.name);
        }
        for name in stored.into_keys() {
            roles::delete(self.tx, &name).await?;
            self.note(ChangeKind::Removed, "role", name);
        }
        Ok(())
    }

    async fn policies(&mut self, wanted: &[NewPolicy]) -> Result<(), StoreError> {
        // The first policy of a name is the one that the files name. The store may have more of this name.
        let by_name: HashMap<&str, &NewPolicy> =
            wanted.iter().map(|policy| (&*policy.name, policy)).collect();
        let (mut kept, mut replaced) = (HashMap::new(), HashSet::new());
        for record in self.stored_policies().await? {
            let named = by_name.get(&*record.name);
            // The resource of a stored policy never changes.
            let keeps = named.is_some_and(|policy| policy.resource == record.resource);
            if keeps && !kept.contains_key(&record.name) {
                kept.insert(record.name.clone(), record);
                continue;
            }
            policies::delete(self.tx, &record, self.by).await?;
            if named.is_none() {
                self.note(ChangeKind::Removed, "policy", &record.name);
            }
            replaced.insert(record.name);
        }
        for policy in wanted {
            match kept.get(&policy.name) {
                Some(old) => self.update_policy(old, policy).await?,
                None => self.insert_policy(policy, replaced.contains(&policy.name)).await?,
            }
        }
        Ok(())
    }

    /// Inserts a policy. With `is_replaced`, a policy of this name was deleted before.
    async fn insert_policy(
        &mut self,
        policy: &NewPolicy,
        is_replaced: bool,
    ) -> Result<(), StoreError> {
        let id = self.ids.next(self.by.at);
        let new = policy.clone().into_record(id, self.tx.tenant(), self.by);
        policies::insert(self.tx, &new).await?;
        let kind = if is_replaced { ChangeKind::Changed } else { ChangeKind::Added };
        self.note(kind, "policy", &policy.name);
        Ok(())
    }

    async fn update_policy(
        &mut self,
        old: &PolicyRecord,
        policy: &NewPolicy,
    ) -> Result<(), StoreError> {
        let mut new = policy.clone().into_record(old.id, self.tx.tenant(), self.by);
        (new.created_by, new.created_at) = (old.created_by.clone(), old.created_at);
        (new.updated_by, new.updated_at) = (old.updated_by.clone(), old.updated_at);
        if new == *old {
            return Ok(());
        }
        new.updated_by = Some(self.by.actor.clone());
        new.updated_at = Some(self.by.at);
        policies::update(self.tx, old, &new, self.by).await?;
        self.note(ChangeKind::Changed, "policy", &policy.name);
        Ok(())
    }

    async fn stored_policies(&mut self) -> Result<Vec<PolicyRecord>, StoreError> {
        let (mut all, mut page) = (Vec::new(), Page::FIRST);
        loop {
            let listed = policies::list(self.tx, None, None, page).await?;
            all.extend(listed.records);
            match all.last() {
                Some(last) if listed.more => page.after = last.id,
                _ => return Ok(all),
            }
        }
    }

    async fn resources(&mut self, wanted: &[Registration], domain: &str) -> Result<(), StoreError> {
        let mut stored: BTreeMap<String, ResourceRecord> = BTreeMap::new();
        for record in self.stored_resources().await? {
            stored.insert(record.registration.name.clone(), record);
        }
        for registration in wanted {
            let old = stored.remove(&registration.name);
            if old.as_ref().is_some_and(|old| old.registration == *registration) {
                continue;
            }
            register(self.tx, registration.clone(), domain, self.by, self.ids).await?;
            let kind = if old.is_some() { ChangeKind::Changed } else { ChangeKind::Added };
            self.note(kind, "resource", &registration.name);
        }
        // The rules of their default roles are gone already.
        for record in stored.into_values() {
            resources::delete(self.tx, &record).await?;
            self.note(ChangeKind::Removed, "resource", &record.registration.name);
        }
        Ok(())
    }

    async fn stored_resources(&mut self) -> Result<Vec<ResourceRecord>, StoreError> {
        let (mut all, mut page) = (Vec::new(), Page::FIRST);
        loop {
            let listed = resources::list(self.tx, page).await?;
            all.extend(listed.records);
            match all.last() {
                Some(last) if listed.more => page.after = last.id,
                _ => return Ok(all),
            }
        }
    }
}

#[cfg(test)]
mod tests;
