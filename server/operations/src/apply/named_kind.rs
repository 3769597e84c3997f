//! The changes of a kind of records that a bundle names one by one.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ptr;

use portcullis_model::apply::FieldChange;
use portcullis_storage::bulk::RecordWrite;

use super::draft::Draft;
use crate::content::kinds::ContentRecord;

/// Returns the writes that make the `stored` records of the owner `wanted`. Others of the owner go with `prune`.
///
/// `find` returns the stored record that a wanted one names; `create` makes a new record; `update` makes a stored one
/// the wanted one, and returns the fields in which it differs, or `None` if a new record must take its place.
pub(super) fn diff<'s, R: ContentRecord, W>(
    draft: &mut Draft<'_>,
    (stored, wanted, prune): (&'s [R], &[W], bool),
    find: impl Fn(&Draft<'_>, &W) -> Option<&'s R>,
    create: impl Fn(&Draft<'_>, &W) -> R,
    update: impl Fn(&Draft<'_>, &R, &W) -> Option<(R, Vec<FieldChange>)>,
) -> Vec<RecordWrite<R>> {
    let (mut writes, mut named) = (Vec::new(), HashSet::new());
    for one in wanted {
        if let Some(old) = find(draft, one) {
            named.insert(ptr::from_ref(old));
            let (name, managed_by) = (old.name(), old.managed_by());
            if !draft.may_change(R::KIND, &name, managed_by) {
                continue;
            }
            if let Some((new, fields)) = update(draft, old, one) {
                if draft.record_update(R::KIND, name.into_owned(), managed_by, fields) {
                    writes.push(RecordWrite::Update { old: old.clone(), new });
                }
                continue;
            }
            draft.replace(R::KIND, name.into_owned());
            writes.push(RecordWrite::Delete(old.clone()));
        }
        let new = create(draft, one);
        draft.create(R::KIND, new.name().into_owned());
        writes.push(RecordWrite::Insert(new));
    }
    for old in stored.iter().filter(|_| prune) {
        if draft.is_own(old.managed_by()) && !named.contains(&ptr::from_ref(old)) {
            draft.delete(R::KIND, old.name().into_owned());
            writes.push(RecordWrite::Delete(old.clone()));
        }
    }
    writes
}

/// Returns the records that belong to `owner` or have one of the `names`; without an owner, all of them.
pub(super) fn read<'s, 'n, R: ContentRecord>(
    stored: &'s [R],
    owner: Option<&str>,
    names: impl Iterator<Item = &'n str>,
) -> Vec<&'s R> {
    let names: HashSet<&str> = names.collect();
    let is_own = |one: &R| owner.is_none() || one.managed_by() == owner;
    stored.iter().filter(|one| is_own(one) || names.contains(&*one.name())).collect()
}

/// Returns the `find` of [`diff`] for records of which no two have one name.
pub(super) fn by_name<'s, R: ContentRecord, W>(
    stored: &'s [R],
    name: impl Fn(&W) -> &str,
) -> impl Fn(&Draft<'_>, &W) -> Option<&'s R> {
    let stored: HashMap<Cow<'s, str>, &R> = stored.iter().map(|one| (one.name(), one)).collect();
    move |_, wanted| stored.get(name(wanted)).copied()
}
