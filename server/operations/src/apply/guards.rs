//! The settings and the cases of an apply: the guards of the tenant's content (`docs/semantics.md`, sections 10.6 to 10.9).

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_auth::Mode;
use portcullis_bundle::{BundleDocument, CaseSet, Rulebook, SentText};
use portcullis_engine::Invalid;
use portcullis_engine::json::JsonError;
use portcullis_fairness::Turn;
use portcullis_model::Authorship;
use portcullis_model::apply::{FieldChange, ObjectKind, PlannedAction, PlannedChange};
use portcullis_model::page::Page;
use portcullis_model::settings::TenantSettings;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::gates::{Judgement, JudgingCases, judge_content};
use portcullis_runtime::write_refusal::WriteRefusal;
use portcullis_storage::tenant_cases::StoredCases;
use portcullis_storage::{StoreError, Tx, providers, tenant_cases, tenant_settings};
use serde_json::Value;
use uuid::Uuid;

use super::after::after;
use super::plan::ApplyPlan;
use super::writes::Writes;
use crate::content::content_rulebook::DecidingRecords;
use crate::content::stored_guards::StoredGuards;
use crate::content::tenant_content::TenantContent;

/// The settings and cases that an apply stores. `None` is what does not change.
#[derive(Debug)]
pub(super) struct GuardWrites {
    settings: Option<TenantSettings>,
    cases: Option<StoredCases>,
}

impl GuardWrites {
    /// Returns what `bundle` changes.
    ///
    /// # Errors
    /// The cases of the bundle are too many, or name users that it does not have.
    pub(super) fn new(
        bundle: &BundleDocument,
        state: &TenantContent,
        domain: &str,
    ) -> Result<Self, OperationError> {
        let settings = bundle.settings.clone().filter(|settings| *settings != state.settings);
        let cases = wanted_cases(bundle, state, domain)?;
        let cases = cases.filter(|new| !is_same(&state.guards.cases, new));
        Ok(Self { settings, cases })
    }

    /// Returns the writes that give `state` the settings and cases of `wanted`.
    pub(super) fn between(state: &TenantContent, wanted: &TenantContent) -> Self {
        let settings = Some(wanted.settings.clone()).filter(|new| *new != state.settings);
        let (old, new) = (&state.guards.cases, &wanted.guards.cases);
        let cases = (!is_same(old, new)).then(|| StoredCases {
            cases: list(&new.cases).to_owned(),
            users: list(&new.users).to_owned(),
            ..new.clone()
        });
        Self { settings, cases }
    }

    /// Refuses to put up the gate `approval` where nobody could approve: no manager of the tenant can have a token.
    ///
    /// # Errors
    /// [`WriteRefusal::ApprovalImpossible`], or the store failed.
    pub(super) async fn must_be_passable(
        &self,
        app: &App,
        tenant: &str,
        state: &TenantContent,
    ) -> Result<(), OperationError> {
        let is_put_up = self.settings.as_ref().is_some_and(has_approval);
        // A gate that is up already is not put up again.
        if !is_put_up || has_approval(&state.settings) || has_managers(app, tenant).await? {
            return Ok(());
        }
        Err(WriteRefusal::ApprovalImpossible.into())
    }

    /// Decides the tenant's cases on the content after `plan`, in a turn that is kept for the next judgement.
    ///
    /// # Errors
    /// The stored cases cannot be read, or too many changes of the tenant wait for a judgement.
    pub(super) async fn judge(
        &self,
        app: &App,
        tenant: &str,
        state: &TenantContent,
        plan: &ApplyPlan,
        turn: &mut Option<Arc<Turn>>,
    ) -> Result<Judgement, OperationError> {
        let stored = state.guards.cases.clone();
        let cases = match self.cases.clone() {
            Some(new) => JudgingCases { present: new, replaced: Some(stored) },
            None => JudgingCases { present: stored, replaced: None },
        };
        if cases.are_none() {
            return Ok(Judgement::default());
        }
        let turn = match turn {
            Some(turn) => turn,
            None => turn.insert(Arc::new(app.judgements.begin(tenant).await?)),
        };
        judge_content(rulebook(state, &plan.writes), cases, turn).await
    }

    /// Returns `state` with the settings and cases that change.
    pub(super) fn put_into(self, state: &mut TenantContent) -> Result<(), StoreError> {
        if let Some(settings) = self.settings {
            state.settings = settings;
        }
        if let Some(cases) = self.cases {
            state.guards = StoredGuards::new(cases)?;
        }
        Ok(())
    }

    /// Stores the settings and cases that change.
    pub(super) async fn store(&self, tx: &mut Tx, by: &Authorship) -> Result<(), StoreError> {
        if let Some(settings) = &self.settings {
            // Texts, numbers, lists and maps of them: there is nothing that could not be written.
            let text = serde_json::to_string(settings).unwrap_or_default();
            tenant_settings::store(tx, &text, settings.gates.of_writes, by).await?;
            // Plans read it from the row of the tenant.
            tenant_settings::store_directory_wins(tx, settings.directory_wins).await?;
        }
        match &self.cases {
            Some(cases) => tenant_cases::store(tx, cases, by).await,
            None => Ok(()),
        }
    }

    /// Adds what changes to the plan.
    pub(super) fn add_to(&self, plan: &mut ApplyPlan, state: &TenantContent) {
        if let Some(settings) = &self.settings {
            let fields = settings_fields(&state.settings, settings);
            let (kind, name) = (ObjectKind::Settings, "settings".to_owned());
            plan.changes.push(PlannedChange { kind, name, action: PlannedAction::Update, fields });
            plan.counts.update += 1;
        }
        let Some(new) = &self.cases else { return };
        let (old, new) = (by_name(&state.guards.cases.cases), by_name(&new.cases));
        for (name, text) in &new {
            let action = match old.get(name) {
                Some(old) if old == text => continue,
                Some(_) => PlannedAction::Update,
                None => PlannedAction::Create,
            };
            add_case(plan, name, action);
        }
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            add_case(plan, name, PlannedAction::Delete);
        }
    }
}

fn has_approval(settings: &TenantSettings) -> bool {
    settings.gates.of_writes.approval
}

/// Returns whether a manager of `tenant` can have a token: it has an identity provider.
async fn has_managers(app: &App, tenant: &str) -> Result<bool, OperationError> {
    // Only in `saas` mode each tenant has its own providers.
    if !matches!(app.mode, Mode::Saas { .. }) {
        return Ok(app.mode.has_tokens());
    }
    let first = Page { after: Uuid::nil(), limit: 1 };
    let listed = app.read(tenant, async |tx| providers::list(tx, first).await).await?;
    Ok(!listed.records.is_empty())
}

/// Returns a stored list. A tenant that never had cases has no lists of them.
fn list(text: &str) -> &str {
    if text.is_empty() { "[]" } else { text }
}

fn is_same(old: &StoredCases, new: &StoredCases) -> bool {
    // Without cases, their domain says nothing.
    list(&old.cases) == list(&new.cases)
        && list(&old.users) == list(&new.users)
        && (new.is_empty() || new.domain == old.domain)
}

fn add_case(plan: &mut ApplyPlan, name: &str, action: PlannedAction) {
    let counts = &mut plan.counts;
    match action {
        PlannedAction::Create => counts.create += 1,
        PlannedAction::Delete => counts.delete += 1,
        _ => counts.update += 1,
    }
    let (kind, name) = (ObjectKind::Case, name.to_owned());
    plan.changes.push(PlannedChange { kind, name, action, fields: Vec::new() });
}

/// Returns the cases that the tenant has after the apply; `None` if the bundle has neither cases nor users.
fn wanted_cases(
    bundle: &BundleDocument,
    state: &TenantContent,
    domain: &str,
) -> Result<Option<StoredCases>, OperationError> {
    if bundle.cases.is_none() && bundle.users.is_none() {
        return Ok(None);
    }
    let guards = &state.guards;
    let cases = texts(bundle.cases.as_deref(), &guards.case_texts);
    let users = texts(bundle.users.as_deref(), &guards.user_texts);
    let set = CaseSet::from_texts(domain, cases.into_iter(), users.into_iter());
    let set = set.map_err(|error| match error {
        JsonError::Invalid(invalid) => OperationError::from(invalid.under("/bundle")),
        JsonError::Syntax(what) => Invalid::expected("/bundle/cases", what).into(),
    })?;
    let (domain, cases, users) = (set.domain, set.cases_json, set.users_json);
    Ok(Some(StoredCases { domain, cases, users, skipped: Vec::new() }))
}

/// Returns the texts that were sent, or else those that are stored.
fn texts<'t, T>(sent: Option<&'t [SentText<T>]>, stored: &'t [String]) -> Vec<&'t str> {
    match sent {
        Some(sent) => sent.iter().map(|one| &*one.text).collect(),
        None => stored.iter().map(|text| &**text).collect(),
    }
}

/// Returns the rules, enabled policies and inclusions of roles after these writes.
pub(super) fn rulebook(state: &TenantContent, writes: &Writes) -> Rulebook {
    let records = DecidingRecords {
        rules: after(&state.rules, &writes.rules),
        policies: after(&state.policies, &writes.policies),
        roles: after(&state.roles, &writes.roles),
        types: after(&state.types, &writes.types),
        conditions: after(&state.conditions, &writes.conditions),
    };
    records.rulebook()
}

/// Returns the members of the settings that differ.
fn settings_fields(old: &TenantSettings, new: &TenantSettings) -> Vec<FieldChange> {
    let (old, new) = (members(old), members(new));
    let paths = [
        "/gates/cases",
        "/gates/approval",
        "/gates/shadow_time",
        "/gates/shadow_flips",
        "/max_deletes",
        "/owners",
        "/directory_wins",
        "/audit_values",
        "/actions",
        "/unknown_subjects",
        "/decision_log/mode",
        "/decision_log/allows",
        "/decision_log/keep",
        "/decision_log/full",
        "/decision_log/attributes",
    ];
    let fields = paths.into_iter().filter_map(|path| {
        let [old, new] = [&old, &new].map(|all| all.pointer(path).map(Value::to_string));
        (old != new).then(|| FieldChange::new(path.to_owned(), old.as_deref(), new.as_deref()))
    });
    fields.collect()
}

fn members(settings: &TenantSettings) -> Value {
    serde_json::to_value(settings).unwrap_or_default()
}

/// Returns the cases of a JSON array by name.
fn by_name(cases: &str) -> BTreeMap<String, Value> {
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap_or_default();
    let named = cases.into_iter().filter_map(|case| {
        let name = case.get("name")?.as_str()?.to_owned();
        Some((name, case))
    });
    named.collect()
}
