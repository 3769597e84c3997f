//! The objects that decide and have no owner, where others have one (`docs/semantics.md`, section 10.2).

use askama::Template;
use portcullis_auth::Manager;
use portcullis_model::page::{Listed, Page};
use portcullis_model::rule::RuleOrigin;
use portcullis_model::rule_filter::RuleFilter;
use portcullis_operations::policies::PolicyFilter;
use portcullis_operations::{conditions, policies, resources, roles, rules, types};
use portcullis_runtime::error::OperationError;

use crate::visit::Visit;

/// Most objects of a kind that are looked at.
const MOST: i64 = 1_000;

#[derive(Template)]
#[template(path = "changes_unowned.html")]
pub(super) struct Unowned {
    kinds: Vec<Kind>,
    /// Whether all objects were looked at.
    complete: bool,
}

struct Kind {
    /// The path of its list; `None` if it has no page.
    page: Option<&'static str>,
    name: &'static str,
    unowned: usize,
    is_owned: bool,
    more: bool,
}

impl Kind {
    /// Counts the objects of a list that decide by whether they have an owner, which `managed` says of those that decide.
    fn of<T>(
        (page, name): (Option<&'static str>, &'static str),
        listed: &Listed<T>,
        managed: fn(&T) -> Option<bool>,
    ) -> Self {
        let decide = listed.records.iter().filter_map(managed);
        let (owned, unowned): (Vec<bool>, Vec<bool>) = decide.partition(|owned| *owned);
        Self { page, name, unowned: unowned.len(), is_owned: !owned.is_empty(), more: listed.more }
    }
}

impl Unowned {
    /// Counts what decides and has no owner; `None` if all has one, or nothing has.
    ///
    /// # Errors
    /// The store failed.
    pub(super) async fn read(
        visit: &Visit,
        manager: &Manager,
    ) -> Result<Option<Self>, OperationError> {
        let (app, page) = (&visit.app, Page { limit: MOST, ..Page::FIRST });
        let policies = policies::list(app, manager, &PolicyFilter::default(), page).await?;
        let rules = rules::list(app, manager, &RuleFilter::default(), page).await?;
        let resources = resources::list(app, manager, page).await?;
        let roles = roles::list(app, manager, "", MOST).await?;
        let types = types::list(app, manager, "", MOST).await?;
        let conditions = conditions::list(app, manager, "", MOST).await?;
        let mut kinds = vec![
            Kind::of((Some("policies"), "policies"), &policies, |it| {
                it.enabled.then_some(it.managed_by.is_some())
            }),
            Kind::of((Some("rules"), "rules"), &rules, |it| {
                // The rules of default roles belong to their resource, which is counted below.
                (it.origin == RuleOrigin::Explicit).then_some(it.managed_by.is_some())
            }),
            Kind::of((Some("resources"), "resources with default roles"), &resources, |it| {
                (!it.registration.default_roles.is_empty()).then_some(it.managed_by.is_some())
            }),
            Kind::of((None, "roles"), &roles, |it| Some(it.managed_by.is_some())),
            Kind::of((Some("types"), "types"), &types, |it| Some(it.managed_by.is_some())),
            Kind::of((Some("conditions"), "conditions"), &conditions, |it| {
                Some(it.managed_by.is_some())
            }),
        ];
        let is_owned = kinds.iter().any(|kind| kind.is_owned);
        let complete = !kinds.iter().any(|kind| kind.more);
        kinds.retain(|kind| kind.unowned > 0);
        Ok((is_owned && !kinds.is_empty()).then_some(Self { kinds, complete }))
    }
}
