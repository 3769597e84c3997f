//! The plan: the difference between the stored content and a bundle (`docs/semantics.md`, section 10.3).

use std::borrow::Cow;
use std::collections::HashSet;

use portcullis_bundle::{BundleDocument, DatetimeValues, ItemWarning, RegisteredNames};
use portcullis_engine::ResourcePattern;
use portcullis_engine::invalid::Problems;
use portcullis_engine::types::Types;
use portcullis_model::apply::{BundleWarning, OwnerConflict, PlanCounts, PlannedChange};
use portcullis_model::named_condition::named_conditions;
use portcullis_model::policy::NewPolicy;
use portcullis_model::resource::ResourceRecord;
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;

use super::after::after;
use super::applied_record::{AppliedRecord, Planning};
use super::draft::Draft;
use super::fingerprint::fingerprint;
use super::writes::Writes;
use super::{action_checks, namespaces, type_checks};
use crate::changes::deletions::Deletions;
use crate::content::kinds::each_kind;
use crate::content::tenant_content::TenantContent;
use crate::content::types::compiled;

pub use super::context::PlanContext;

/// Most warnings of a plan, as in an invalid body: nobody mends more at once.
const MAX_WARNINGS: usize = 100;

/// The difference between the stored content and a bundle, and the writes that remove it.
#[derive(Debug)]
pub struct ApplyPlan {
    pub changes: Vec<PlannedChange>,
    pub conflicts: Vec<OwnerConflict>,
    pub counts: PlanCounts,
    pub fingerprint: String,
    /// The objects of the owner that go for good.
    pub deletions: Deletions,
    pub warnings: Vec<BundleWarning>,
    pub writes: Writes,
}

macro_rules! planned {
    ($($(#[$about:meta])* $list:ident: $record:ty,)*) => {
        /// Returns the writes of each kind, which are planned after those of the kinds before it.
        fn planned(
            draft: &mut Draft<'_>,
            (state, bundle): (&TenantContent, &BundleDocument),
            context: &PlanContext<'_>,
            problems: &mut Problems,
        ) -> Result<Writes, OperationError> {
            let mut writes = Writes::default();
            $(
                let planning = Planning { state, bundle, context, before: &writes };
                writes.$list = <$record>::planned(draft, planning, problems)?;
            )*
            Ok(writes)
        }
    };
}

each_kind!(planned);

/// Returns the plan that replaces the objects of the owner with the objects of the bundle.
///
/// # Errors
/// A policy of the bundle reads an attribute that no resolver has and no type declares after the plan, or names a condition that
/// does not exist or does not fit, an enabled policy, a condition or a case that stays loses one, a role would include itself,
/// the tenant would have too many roles or types, or a new webhook has no secret.
pub fn plan(
    state: &TenantContent,
    bundle: &BundleDocument,
    context: &PlanContext<'_>,
) -> Result<ApplyPlan, OperationError> {
    let mut draft = Draft::new(context.owner, context.force);
    let mut problems = Problems::default();
    let writes = planned(&mut draft, (state, bundle), context, &mut problems)?;
    let resources = after(&state.resources, &writes.resources);
    let resolvers = after(&state.resolvers, &writes.resolvers);
    let types = after(&state.types, &writes.types);
    let declared = compiled(types.iter().copied());
    let readable = portcullis_resolvers::namespaces::collect(resolvers, context.operator);
    let conditions = after(&state.conditions, &writes.conditions);
    let names = named_conditions(conditions.iter().copied());
    let readable = readable.with_types(declared.clone()).with_conditions(names);
    namespaces::check_bundle(bundle, (&readable, &declared), &mut problems);
    type_checks::check_cases(bundle, &declared, &mut problems);
    let terms = action_checks::terms_after(state, bundle);
    action_checks::check_bundle(bundle, terms, &mut problems);
    // What is stored is judged only by a bundle without faults.
    problems.into_result()?;
    let policies = after(&state.policies, &writes.policies);
    namespaces::check_stored(&writes.resolvers, &policies, readable.conditions())?;
    type_checks::check_stored(
        state,
        bundle,
        policies.iter().copied(),
        &readable,
        (&types, &conditions),
    )?;
    let rules = after(&state.rules, &writes.rules);
    action_checks::check_stored(state, bundle, &rules, terms)?;
    let sent = bundle.policies.iter().flatten();
    let sent: Vec<_> = sent.map(|sent| sent.policy.resolved(readable.conditions())).collect();
    let mut warnings = warnings(bundle, &sent, &resources);
    let orders = datetimes_as_texts(state, bundle, &sent, &declared);
    warnings.extend(orders.take(MAX_WARNINGS.saturating_sub(warnings.len())));
    let owned = state.owned(context.owner);
    let pairs = context.owner.map_or(0, |owner| gone_with_a_rule(&writes, owner));
    let deletions = draft.deletions.saturating_sub(pairs);
    Ok(ApplyPlan {
        changes: draft.changes,
        conflicts: draft.conflicts,
        counts: draft.counts,
        fingerprint: fingerprint(state, bundle, context.owner, context.domain),
        deletions: Deletions::new(deletions, owned, state.settings.max_deletes),
        warnings,
        writes,
    })
}

/// Returns the number of resources that go together with a rule of the owner about them: such a pair is one deletion.
fn gone_with_a_rule(writes: &Writes, owner: &str) -> usize {
    let rules = writes.rules.iter().filter(|write| write.after().is_none());
    let own = rules
        .filter_map(RecordWrite::before)
        .filter(|rule| rule.managed_by.as_deref() == Some(owner));
    let about: HashSet<&str> = own
        .filter_map(|rule| match &rule.tuple.obj {
            ResourcePattern::Exact(resource) => Some(&**resource),
            _ => None,
        })
        .collect();
    let resources = writes.resources.iter().filter(|write| write.after().is_none());
    let gone = resources.filter_map(RecordWrite::before);
    gone.filter(|record| about.contains(&*record.registration.name)).count()
}

/// Returns the warnings about rules and policies of the bundle that match no resource after the plan.
fn warnings(
    bundle: &BundleDocument,
    policies: &[Cow<'_, NewPolicy>],
    resources: &[&ResourceRecord],
) -> Vec<BundleWarning> {
    let registered = RegisteredNames::new(resources.iter().map(|record| &record.registration));
    let rules = bundle.rules.as_deref().unwrap_or_default();
    let of_rules = registered.warnings_of_rules(rules).into_iter();
    let policies = policies.iter().map(Cow::as_ref);
    let of_policies = registered.warnings_of_policies(policies).into_iter();
    let of_rules = of_rules.map(|warning| bundle_warning("rules", warning));
    let of_policies = of_policies.map(|warning| bundle_warning("policies", warning));
    of_rules.chain(of_policies).take(MAX_WARNINGS).collect()
}

/// Returns the warnings about policies of the bundle that order date-times as texts. Two attributes have date-times if the cases
/// after the plan say so.
fn datetimes_as_texts(
    state: &TenantContent,
    bundle: &BundleDocument,
    policies: &[Cow<'_, NewPolicy>],
    types: &Types,
) -> impl Iterator<Item = BundleWarning> {
    let values = match &bundle.cases {
        Some(cases) => DatetimeValues::new(cases.iter().map(|sent| &sent.value), []),
        None => DatetimeValues::of_stored_cases(&state.guards.cases.cases),
    };
    policies.iter().enumerate().flat_map(move |(index, policy)| {
        let warnings = values.warnings(types, &policy.resource, &policy.rule_data).into_iter();
        warnings.map(move |warning| bundle_warning("policies", ItemWarning { index, warning }))
    })
}

fn bundle_warning(list: &str, ItemWarning { index, warning }: ItemWarning) -> BundleWarning {
    let path = format!("/bundle/{list}/{index}{}", warning.path);
    BundleWarning { code: warning.code, message: warning.message, path }
}
