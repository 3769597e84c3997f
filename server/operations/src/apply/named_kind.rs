//! The changes of a kind of records that a bundle names one by one.

use std::collections::{HashMap, HashSet};
use std::ptr;

use portcullis_model::apply::{FieldChange, ObjectKind};
use portcullis_storage::bulk::RecordWrite;

use super::draft::Draft;

/// A kind of records that a bundle names one by one.
pub(super) struct NamedKind<R> {
    pub(super) kind: ObjectKind,
    pub(super) name: fn(&R) -> &str,
    pub(super) managed_by: fn(&R) -> Option<&str>,
}

impl<R: Clone> NamedKind<R> {
    /// Returns the writes that make the `stored` records of the owner `wanted`. Others of the owner go with `prune`.
    ///
    /// `find` returns the stored record that a wanted one names; `create` makes a new record; `update` makes a stored one
    /// the wanted one, and returns the fields in which it differs, or `None` if a new record must take its place.
    pub(super) fn diff<'s, W>(
        &self,
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
                let (name, managed_by) = ((self.name)(old), (self.managed_by)(old));
                if !draft.may_change(self.kind, name, managed_by) {
                    continue;
                }
                if let Some((new, fields)) = update(draft, old, one) {
                    if draft.record_update(self.kind, name.to_owned(), managed_by, fields) {
                        writes.push(RecordWrite::Update { old: old.clone(), new });
                    }
                    continue;
                }
                draft.replace(self.kind, name.to_owned());
                writes.push(RecordWrite::Delete(old.clone()));
            }
            let new = create(draft, one);
            draft.create(self.kind, (self.name)(&new).to_owned());
            writes.push(RecordWrite::Insert(new));
        }
        for old in stored.iter().filter(|_| prune) {
            if draft.is_own((self.managed_by)(old)) && !named.contains(&ptr::from_ref(old)) {
                draft.delete(self.kind, (self.name)(old).to_owned());
                writes.push(RecordWrite::Delete(old.clone()));
            }
        }
        writes
    }

    /// Returns the records that belong to `owner` or have one of the `names`; without an owner, all of them.
    pub(super) fn read<'s, 'n>(
        &self,
        stored: &'s [R],
        owner: Option<&str>,
        names: impl Iterator<Item = &'n str>,
    ) -> Vec<&'s R> {
        let names: HashSet<&str> = names.collect();
        let is_own = |one: &R| owner.is_none() || (self.managed_by)(one) == owner;
        stored.iter().filter(|one| is_own(one) || names.contains((self.name)(one))).collect()
    }

    /// Returns the `find` of [`Self::diff`] for records of which no two have one name.
    pub(super) fn by_name<'s, W>(
        &self,
        stored: &'s [R],
        name: impl Fn(&W) -> &str,
    ) -> impl Fn(&Draft<'_>, &W) -> Option<&'s R> {
        let stored: HashMap<&str, &R> = stored.iter().map(|one| ((self.name)(one), one)).collect();
        move |_, wanted| stored.get(name(wanted)).copied()
    }
}
