//! Many `kill -9` while rules and policies are written: the history has each revision that was acknowledged, and what it
//! tells is what is in force.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use crate::setup;
use crate::support::kills::{CLIENTS, kill_under_load, many};
use crate::support::openid::say;
use crate::support::{Provider, Settings, Tenant};

const RULES: &str = "/api/v1/resources/policies";
const POLICIES: &str = "/api/v1/abac/policies";

/// A write that was acknowledged.
#[derive(Debug)]
struct Written {
    revision: u64,
    record: String,
    action: &'static str,
}

/// The content by the history: the members of each record, by JSON pointer.
#[derive(Default)]
struct Told {
    revision: u64,
    records: BTreeMap<String, BTreeMap<String, Value>>,
    acknowledged: usize,
    unacknowledged: usize,
}

#[test]
fn kills_leave_a_history_of_what_is_in_force() {
    kill_during_writes(3);
}

#[test]
#[ignore = "a kill loop: `.ci/long` runs it"]
fn many_kills_leave_a_history_of_what_is_in_force() {
    kill_during_writes(many());
}

fn kill_during_writes(kills: usize) {
    let began = Instant::now();
    let settings = Settings::new(Provider::shared());
    let mut server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "killed");
    let mut told = Told::default();
    for round in 0..kills {
        let here = tenant.at(&server);
        let work = |client, count: &_| write(&here, &format!("r{round}-c{client}"), count);
        let written = kill_under_load(server, round, work);
        server = settings.start();
        told.read_on(&tenant.at(&server), &written);
        told.is_in_force(&tenant.at(&server));
    }
    assert_eq!(listed(&tenant.at(&server)), (1..=told.revision).rev().collect::<Vec<_>>());
    let database = if setup::is_postgres() { "PostgreSQL" } else { "SQLite" };
    say(&format!(
        "| {database} | {kills} | {} | {} | 0 | 0 | {} s |",
        told.acknowledged,
        told.unacknowledged,
        began.elapsed().as_secs()
    ));
    assert!(told.acknowledged >= kills, "only {} writes were acknowledged", told.acknowledged);
}

/// Writes until the server is gone, and returns what was acknowledged.
fn write(tenant: &Tenant<'_>, mark: &str, count: &AtomicUsize) -> Vec<Written> {
    let mut written = Vec::new();
    for number in 0.. {
        if write_some(tenant, &format!("{mark}-{number}"), &mut written, count).is_none() {
            break;
        }
    }
    written
}

/// Creates, changes and deletes a rule and a policy. `None` once the server is gone.
fn write_some(
    tenant: &Tenant<'_>,
    mark: &str,
    written: &mut Vec<Written>,
    count: &AtomicUsize,
) -> Option<()> {
    let mut send = |route: String, body: Value, record: Option<&str>, action| {
        let reply = tenant.managing(route).json(&body).try_send(tenant.address)?;
        assert!([200, 201, 204].contains(&reply.status), "{}", reply.text);
        let record = record.map_or_else(|| reply.id(), str::to_owned);
        written.push(Written { revision: reply.revision(), record: record.clone(), action });
        count.fetch_add(1, Ordering::SeqCst);
        Some(record)
    };
    let rule = json!({"sub": mark, "obj": "doc:read", "act": "read", "effect": "allow"});
    let rule = send(format!("POST {RULES}"), rule, None, "create")?;
    let denied = json!({"id": rule, "effect": "deny"});
    send(format!("PUT {RULES}"), denied, Some(&rule), "update")?;
    let tree =
        json!({"type": "CONDITION", "attribute": "user.level", "operator": "gte", "value": 3});
    let policy = json!({
        "name": mark, "resource": "doc:read", "effect": "deny", "priority": 1, "rule_data": tree,
    });
    let policy = send(format!("POST {POLICIES}"), policy, None, "create")?;
    let path = format!("PUT {POLICIES}/{policy}");
    send(path, json!({"priority": 2}), Some(&policy), "update")?;
    send(format!("DELETE {RULES}"), json!({"id": rule}), Some(&rule), "delete")?;
    send(format!("DELETE {POLICIES}/{policy}"), json!(null), Some(&policy), "delete")?;
    Some(())
}

impl Told {
    /// Reads the revisions that are new. Those in `written` are there, and else at most the one write of each client that got no
    /// answer.
    fn read_on(&mut self, tenant: &Tenant<'_>, written: &[Written]) {
        let present = tenant.get("/api/v1/export").is(200).json()["revision"].as_u64().unwrap();
        let newest = tenant.get("/api/v1/revisions?limit=1").is(200).json();
        assert_eq!(newest[0]["revision"], json!(present), "the history ends elsewhere");
        let new: BTreeMap<u64, &Written> = written.iter().map(|one| (one.revision, one)).collect();
        assert_eq!(new.len(), written.len(), "a revision was acknowledged twice");
        let last = new.keys().next_back().copied().unwrap_or(self.revision);
        assert!(last <= present, "an acknowledged revision is lost");
        let unacknowledged = (present - self.revision) as usize - new.len();
        assert!(unacknowledged <= CLIENTS, "{unacknowledged} revisions that nobody wrote");
        for revision in self.revision + 1..=present {
            let path = format!("/api/v1/revisions/{revision}");
            let change = tenant.get(&path).is(200).json()["changes"][0].clone();
            if let Some(written) = new.get(&revision) {
                let told = (&change["record"], &change["action"]);
                assert_eq!(told, (&json!(written.record), &json!(written.action)), "{revision}");
            }
            self.note(&change);
        }
        self.revision = present;
        self.acknowledged += new.len();
        self.unacknowledged += unacknowledged;
    }

    fn note(&mut self, change: &Value) {
        let record = change["record"].as_str().unwrap().to_owned();
        if change["action"] == "delete" {
            self.records.remove(&record);
            return;
        }
        let members = self.records.entry(record).or_default();
        for field in change["fields"].as_array().unwrap() {
            members.insert(field["path"].as_str().unwrap().to_owned(), field["after"].clone());
        }
    }

    /// Asserts that the rules and policies are those that the history tells.
    fn is_in_force(&self, tenant: &Tenant<'_>) {
        let mut present = 0;
        for list in [RULES, POLICIES] {
            tenant.each(list, |record| {
                let told = record["id"].as_str().and_then(|id| self.records.get(id));
                assert!(told.is_some(), "the history lacks {record}");
                for (path, value) in told.into_iter().flatten() {
                    assert_eq!(record.pointer(path), Some(value), "{path} of {record}");
                }
                present += 1;
            });
        }
        assert_eq!(present, self.records.len(), "records of the history are not in force");
    }
}

/// Returns the revisions of the history, newest first.
fn listed(tenant: &Tenant<'_>) -> Vec<u64> {
    let mut revisions = Vec::new();
    tenant.each("/api/v1/revisions", |one| revisions.extend(one["revision"].as_u64()));
    revisions
}
