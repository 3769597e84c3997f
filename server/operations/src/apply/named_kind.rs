//! The changes of a kind of records that a bundle names one by one.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ptr;

use portcullis_model::apply::FieldChange;
use portcullis_storage::bulk::RecordWrite;

use super::context::PlanContext;
use super::draft::Draft;
use crate::content::kinds::ContentRecord;

/// A record that a bundle names.
pub(super) trait NamedRecord: ContentRecord {
    /// The object as the bundle has it.
    type Wanted;

    /// Returns a new record, of which nobody is the owner yet.
    fn created(wanted: &Self::Wanted, context: &PlanContext<'_>) -> Self;

    /// Returns this stored record as it is wanted, whoever is its owner; `None` if a new record must take its place.
    fn updated(&self, wanted: &Self::Wanted, context: &PlanContext<'_>) -> Option<Updated<Self>>;
}

/// A record after the plan, and the fields in which it differs from the stored one.
pub(super) type Updated<R> = (R, Vec<FieldChange>);

/// Returns the writes that make the `stored` records of the owner `wanted`. `find` returns the stored record that a wanted one
/// names.
pub(super) fn diff<'s, R: NamedRecord>(
    draft: &mut Draft<'_>,
    (stored, wanted): (&'s [R], &[R::Wanted]),
    find: impl Fn(&Draft<'_>, &R::Wanted) -> Option<&'s R>,
    context: &PlanContext<'_>,
) -> Vec<RecordWrite<R>> {
    // Known by their places in memory, because two stored records may have one name.
    let (mut writes, mut named) = (Vec::new(), HashSet::new());
    for one in wanted {
        if let Some(old) = find(draft, one) {
            named.insert(ptr::from_ref(old));
            let (name, managed_by) = (old.name(), old.managed_by());
            if !draft.may_change(R::KIND, &name, managed_by) {
                continue;
            }
            if let Some((new, fields)) = old.updated(one, context) {
                if draft.record_update(R::KIND, name.into_owned(), managed_by, fields) {
                    writes.push(RecordWrite::Update {
                        old: old.clone(),
                        new: new.owned_by(context.owner),
                    });
                }
                continue;
            }
            draft.replace(R::KIND, name.into_owned());
            writes.push(RecordWrite::Delete(old.clone()));
        }
        let new = R::created(one, context).owned_by(context.owner);
        draft.create(R::KIND, new.name().into_owned());
        writes.push(RecordWrite::Insert(new));
    }
    for old in stored.iter().filter(|_| context.prune) {
        if draft.is_own(old.managed_by()) && !named.contains(&ptr::from_ref(old)) {
            draft.delete(R::KIND, old.name().into_owned());
            writes.push(RecordWrite::Delete(old.clone()));
        }
    }
    writes
}

/// Returns the `find` of [`diff`] for records with unique names.
pub(super) fn by_name<'s, R: ContentRecord, W>(
    stored: &'s [R],
    name: impl Fn(&W) -> &str,
) -> impl Fn(&Draft<'_>, &W) -> Option<&'s R> {
    let stored: HashMap<Cow<'s, str>, &R> = stored.iter().map(|one| (one.name(), one)).collect();
    move |_, wanted| stored.get(name(wanted)).copied()
}
