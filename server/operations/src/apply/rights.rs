//! The rights that an apply and a dry run need, and what their caller may see (`docs/semantics.md`, section 10.4).

use portcullis_auth::{AuthError, Manager};
use portcullis_model::apply::{ApplyAnswer, ObjectKind};
use portcullis_model::resolver::{Secrets, SentSecrets};
use portcullis_model::service_key::Permission;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::WriteRefusal;

use super::request::ApplyRequest;

/// Refuses a caller without the write permission of a kind that the bundle has. For a dry run the read permissions suffice,
/// unless the bundle has bytes of a module, which cost a compilation, or secrets, with which the plan compares the stored ones.
pub(super) fn must_have_rights(
    caller: &Manager,
    request: &ApplyRequest,
    dry_run: bool,
) -> Result<(), AuthError> {
    if dry_run {
        must_read(caller, request)?;
    }
    let mut kinds = kinds(request);
    if dry_run {
        kinds.retain(|kind| has_secrets(request, *kind));
    }
    kinds.into_iter().try_for_each(|kind| caller.must_have(kind.facts().permissions.1))?;
    if request.delete_tuples_of.is_some() {
        let (read, write) = (Permission::RelationsRead, Permission::RelationsWrite);
        caller.must_have(if dry_run { read } else { write })?;
    }
    // A dry run only shows what would be forced.
    if !dry_run && (request.force || request.allow_deletes) {
        caller.must_have(Permission::PoliciesForce)?;
    }
    Ok(())
}

/// Refuses a caller without the write permission of one of these kinds; for a dry run, without the read permission.
pub(super) fn must_have_rights_of(
    caller: &Manager,
    mut kinds: impl Iterator<Item = ObjectKind>,
    dry_run: bool,
) -> Result<(), AuthError> {
    kinds.try_for_each(|kind| {
        let (read, write) = kind.facts().permissions;
        caller.must_have(if dry_run { read } else { write })
    })
}

/// The part of an answer that its caller may see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visibility {
    /// The caller may read every kind that the bundle has.
    content: bool,
    cases: bool,
}

impl Visibility {
    pub(super) fn new(caller: &Manager, request: &ApplyRequest) -> Self {
        let cases = caller.must_have(Permission::PoliciesRead).is_ok();
        Self { content: must_read(caller, request).is_ok(), cases }
    }

    /// Returns what the caller may see of changes of any of these kinds.
    pub(super) fn for_kinds(caller: &Manager, kinds: impl Iterator<Item = ObjectKind>) -> Self {
        let cases = caller.must_have(Permission::PoliciesRead).is_ok();
        Self { content: must_have_rights_of(caller, kinds, true).is_ok(), cases }
    }

    /// Returns whether the caller may see changes of these kinds. Resources may take rules with them.
    fn may_see(self, mut kinds: impl Iterator<Item = ObjectKind>) -> bool {
        self.content && (self.cases || kinds.all(|kind| kind != ObjectKind::Rule))
    }

    /// Returns the answer with the counts and codes alone of what the caller may not see.
    pub(super) fn limit_answer(self, mut answer: ApplyAnswer) -> ApplyAnswer {
        let changes = answer.changes.iter().map(|change| change.kind);
        let conflicts = answer.conflicts.iter().map(|conflict| conflict.kind);
        if !self.may_see(changes.chain(conflicts)) {
            answer.changes.clear();
            answer.conflicts.clear();
            answer.impact = None;
            answer.warnings.iter_mut().for_each(|warning| warning.message.clear());
        }
        if !self.cases {
            answer.tests.failed.clear();
            answer.tests.skipped.clear();
        }
        answer
    }

    /// Returns the error without the names that the caller may not see.
    pub(super) fn limit_error(self, error: OperationError) -> OperationError {
        match error {
            OperationError::Refused(WriteRefusal::OwnedByAnother(conflicts))
                if !self.may_see(conflicts.iter().map(|conflict| conflict.kind)) =>
            {
                WriteRefusal::OwnedByAnother(Vec::new()).into()
            }
            error if !self.cases => error.without_names(),
            error => error,
        }
    }
}

/// Refuses a caller who may not read what the plan of the bundle shows.
fn must_read(caller: &Manager, request: &ApplyRequest) -> Result<(), AuthError> {
    kinds(request).into_iter().try_for_each(|kind| caller.must_have(kind.facts().permissions.0))?;
    if request.impact { caller.must_have(Permission::PoliciesRead) } else { Ok(()) }
}

/// Returns the kinds that the bundle changes. Default roles make rules.
fn kinds(request: &ApplyRequest) -> Vec<ObjectKind> {
    let bundle = &request.bundle;
    let mut kinds: Vec<_> = ObjectKind::owned().filter(|kind| bundle.has(*kind)).collect();
    let mut resources = bundle.resources.iter().flatten();
    if resources.any(|resource| !resource.default_roles.is_empty()) {
        kinds.push(ObjectKind::Rule);
    }
    if bundle.has_settings_or_cases() {
        kinds.push(ObjectKind::Settings);
    }
    kinds
}

/// Returns whether the bundle has bytes of a module or the value of a secret in an object of this kind.
fn has_secrets(request: &ApplyRequest, kind: ObjectKind) -> bool {
    let bundle = &request.bundle;
    match kind {
        ObjectKind::Resolver => bundle.resolvers.iter().flatten().any(|one| {
            let is_given = one.secrets == SentSecrets::Given;
            (is_given && one.manifest.secrets != Secrets::default()) || one.module.is_some()
        }),
        ObjectKind::Webhook => bundle.webhooks.iter().flatten().any(|one| one.secret.is_some()),
        _ => false,
    }
}
