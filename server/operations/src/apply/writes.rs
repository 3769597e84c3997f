//! The writes of a plan, kind by kind.

use portcullis_model::apply::{ObjectKind, PlannedAction, PlannedChange};
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::revision_changes::ChangedRecord;

use super::after::after;
use crate::content::kinds::{ContentRecord, each_kind};
use crate::content::revisions::change;
use crate::content::tenant_content::TenantContent;

macro_rules! writes {
    ($($(#[$about:meta])* $list:ident: $record:ty,)*) => {
        /// The writes of a plan.
        #[derive(Debug, Default)]
        pub struct Writes {
            $(pub $list: Vec<RecordWrite<$record>>,)*
        }

        impl Writes {
            /// Puts the records after the writes into `content`.
            pub(super) fn put_into(&self, content: &mut TenantContent) {
                $(content.$list = after(&content.$list, &self.$list).into_iter().cloned().collect();)*
            }

            /// Returns the owners of the records that are changed or deleted.
            pub(super) fn owners(&self) -> impl Iterator<Item = &str> {
                std::iter::empty()$(.chain(owners(&self.$list)))*
            }

            /// Returns the kind, the effect and the name of each write.
            pub fn objects(&self) -> impl Iterator<Item = (ObjectKind, PlannedAction, String)> {
                std::iter::empty()$(.chain(self.$list.iter().map(object)))*
            }

            /// Returns what the writes change, by members.
            pub(super) fn changes(&self) -> Vec<PlannedChange> {
                std::iter::empty()$(.chain(self.$list.iter().map(shown)))*.collect()
            }
        }
    };
}

each_kind!(writes);

fn owners<R: ContentRecord>(writes: &[RecordWrite<R>]) -> impl Iterator<Item = &str> {
    writes.iter().filter_map(RecordWrite::before).filter_map(ContentRecord::managed_by)
}

fn object<R: ContentRecord>(write: &RecordWrite<R>) -> (ObjectKind, PlannedAction, String) {
    let (action, record) = match write {
        RecordWrite::Insert(new) => (PlannedAction::Create, new),
        RecordWrite::Update { new, .. } => (PlannedAction::Update, new),
        RecordWrite::Delete(old) => (PlannedAction::Delete, old),
    };
    (R::KIND, action, record.name().into_owned())
}

fn shown<R: ContentRecord>(write: &RecordWrite<R>) -> PlannedChange {
    let [before, after] =
        [write.before(), write.after()].map(|record| serde_json::to_string(record?).ok());
    let record = String::new();
    change(&ChangedRecord { kind: R::KIND, record, revision: 0, before, after }).change
}
