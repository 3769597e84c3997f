//! The content at every revision is what was stored at it, on every database.

use std::collections::BTreeMap;

use portcullis_engine::{Effect, Format, ResourcePattern, RuleTuple, json};
use portcullis_model::ids::Ids;
use portcullis_model::input::DeclaredBody;
use portcullis_model::policy::{PolicyRecord, RuleData};
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_model::role::NewRole;
use portcullis_model::rule::{NewRule, RuleOrigin, RuleRecord};
use portcullis_model::settings::{Gates, TenantSettings};
use portcullis_model::types::TypeBody;
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::bulk::{self, RecordWrite};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use portcullis_storage::{Store, roles, tenant_cases, tenant_settings, types};

use super::*;

on_every_database!(every_revision_has_what_was_stored, a_revision_that_is_not_kept_is_not_found,);

/// Changes records of a tenant at random.
struct Writer {
    random: fastrand::Rng,
    ids: Ids,
    by: Authorship,
}

impl Writer {
    /// Returns a write of one of `stored`, or of a new record.
    fn write<T: Clone>(
        &mut self,
        stored: &[T],
        new: impl FnOnce(&Self) -> T,
        change: impl FnOnce(&mut T, i32),
    ) -> RecordWrite<T> {
        if stored.is_empty() || self.random.u8(..3) == 0 {
            return RecordWrite::Insert(new(self));
        }
        let old = stored[self.random.usize(..stored.len())].clone();
        if self.random.bool() {
            return RecordWrite::Delete(old);
        }
        let mut new = old.clone();
        change(&mut new, self.random.i32(0..1_000_000));
        RecordWrite::Update { old, new }
    }

    fn rule(&self) -> RuleRecord {
        let id = self.ids.next(self.by.at);
        let (sub, dom, act) = (id.to_string(), "*".to_owned(), "read".to_owned());
        let obj = ResourcePattern::parse("wiki:*").expect("a pattern");
        let new = NewRule { tuple: RuleTuple { sub, dom, obj, act }, effect: Effect::Allow };
        new.into_record(id, RuleOrigin::Explicit, &self.by)
    }

    fn policy(&self) -> PolicyRecord {
        let text = r#"{"type":"CONDITION","attribute":"user.a","operator":"eq","value":"\"ö"}"#;
        PolicyRecord {
            id: self.ids.next(self.by.at),
            tenant_id: "acme".to_owned(),
            name: "p".to_owned(),
            description: None,
            resource: ResourcePattern::parse("wiki:read").expect("a pattern"),
            effect: Effect::Deny,
            format: Format::Json,
            rule_data: RuleData::from_stored(text.to_owned()).expect("JSON"),
            priority: 1,
            enabled: true,
            created_by: "ann".to_owned(),
            created_at: self.by.at,
            updated_by: None,
            updated_at: None,
            managed_by: None,
        }
    }

    fn resource(&self) -> ResourceRecord {
        let id = self.ids.next(self.by.at);
        let body = format!(r#"{{"name": "{id}:read", "displayName": "Ä"}}"#);
        let registration = Registration::parse(&json::parse(body.as_bytes()).expect("JSON"));
        ResourceRecord {
            id,
            tenant_id: "acme".to_owned(),
            registration: registration.expect("sound"),
            created_at: self.by.at,
            updated_at: None,
            managed_by: None,
        }
    }

    /// Changes one to three records in one transaction.
    async fn change(&mut self, store: &Store) -> u64 {
        let mut tx = store.write("acme", 0).await.expect("begins");
        for _ in 0..self.random.u8(1..=3) {
            let content = TenantContent::load(&mut tx).await.expect("loads");
            self.change_one(&mut tx, &content).await;
        }
        tx.commit().await.expect("commits").position.revision
    }

    async fn change_one(&mut self, tx: &mut Tx, content: &TenantContent) {
        let (by, number) = (self.by.clone(), self.random.u8(..100));
        match self.random.u8(..7) {
            0 => {
                let write = self.write(&content.rules, Self::rule, |rule, number| {
                    rule.effect = if number % 2 == 0 { Effect::Deny } else { Effect::Allow };
                    rule.updated_at = Some(Timestamp::from_millis(number.into()));
                });
                bulk::write_rules(tx, &[write], &by).await.expect("works");
            }
            1 => {
                let write = self.write(&content.policies, Self::policy, |policy, number| {
                    policy.priority = number;
                });
                bulk::write_policies(tx, &[write], &by).await.expect("works");
            }
            2 => {
                let write = self.write(&content.resources, Self::resource, |resource, number| {
                    resource.registration.service_name = Some(number.to_string());
                });
                bulk::write_resources(tx, &[write], &by).await.expect("works");
            }
            3 => {
                let name = format!("r{}", number % 3);
                if !roles::delete(tx, &name).await.expect("works") {
                    let new = NewRole { name, includes: vec![number.to_string()] };
                    roles::store(tx, &new.into_record(&by)).await.expect("works");
                }
            }
            4 => {
                let name = format!("t{}", number % 3);
                if number % 2 == 0 || !types::delete(tx, &name).await.expect("works") {
                    let body = format!(
                        r#"{{"properties": {{"p{number}": {{"type": "text", "from": "directory"}}}},
                        "relations": {{"r{number}": "[user]", "viewer": "[user] || r{number}"}}}}"#
                    );
                    let body = TypeBody::parse(&json::parse(body.as_bytes()).expect("JSON"));
                    let declared = body.and_then(|body| body.into_type(&name)).expect("sound");
                    types::store(tx, &declared.into_record(&by)).await.expect("works");
                }
            }
            5 => {
                let settings =
                    TenantSettings { max_deletes: number.into(), ..TenantSettings::default() };
                let text = serde_json::to_string(&settings).expect("JSON");
                let gates = Gates::default();
                tenant_settings::store(tx, &text, gates, &by).await.expect("works");
            }
            _ => {
                let cases = format!(r#"[{{"name":"c{number}"}}]"#);
                let (domain, users) = ("acme".to_owned(), "[]".to_owned());
                let cases = StoredCases { domain, cases, users, skipped: Vec::new() };
                tenant_cases::store(tx, &cases, &by).await.expect("works");
            }
        }
    }
}

async fn every_revision_has_what_was_stored(database: TestDatabase) {
    let store = database.open().await;
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
    let mut writer = Writer { random: fastrand::Rng::with_seed(7), ids: Ids::new(), by };
    let mut stored = BTreeMap::new();
    for _ in 0..60 {
        let revision = writer.change(&store).await;
        let mut tx = store.begin_read("acme").await.expect("begins");
        let content = TenantContent::load(&mut tx).await.expect("loads");
        stored.insert(revision, format!("{content:?}"));
    }
    let mut tx = store.begin_read("acme").await.expect("begins");
    for (revision, expected) in stored {
        let content = content_at(&mut tx, revision).await.expect("is kept");
        assert_eq!(format!("{content:?}"), expected, "{revision}");
    }
}

async fn a_revision_that_is_not_kept_is_not_found(database: TestDatabase) {
    let store = database.open().await;
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
    let mut writer = Writer { random: fastrand::Rng::with_seed(7), ids: Ids::new(), by };
    for _ in 0..3 {
        writer.change(&store).await;
    }
    let mut tx = store.write_all().await.expect("begins");
    revisions::prune(&mut tx, "acme", 2, 10).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("acme").await.expect("begins");
    for (revision, is_kept) in [(0, false), (1, false), (2, true), (3, true), (4, false)] {
        let found = content_at(&mut tx, revision).await;
        assert_eq!(found.is_ok(), is_kept, "{revision}: {found:?}");
    }
}
