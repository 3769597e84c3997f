//! A stored tenant follows its files.

use std::path::Path;

use portcullis_bundle::Bundle;
use portcullis_model::Timestamp;
use portcullis_model::ids::Ids;
use portcullis_model::page::Page;
use portcullis_model::resource::ResourceRecord;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::{Store, policies, resources, rules};
use portcullis_test_tenants::{edit, write_tenant};
use tempfile::TempDir;

use super::*;

/// A tenant folder and a database.
struct World {
    folder: TempDir,
    store: Store,
    ids: Ids,
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        write_tenant(&folder.path().join("acme"));
        let url = format!("sqlite://{}", folder.path().join("test.db").display());
        let store = Store::open(&url).await.expect("opens");
        Self { folder, store, ids: Ids::new() }
    }

    fn tenant(&self) -> std::path::PathBuf {
        self.folder.path().join("acme")
    }

    /// Applies the folder, and returns the writes as text.
    async fn apply(&self) -> Vec<String> {
        let bundle = Bundle::read_folder(Path::new(&self.tenant())).expect("sound");
        self.apply_document(&BundleDocument::new(&bundle, Vec::new())).await
    }

    async fn apply_document(&self, document: &BundleDocument) -> Vec<String> {
        let mut tx = self.store.write("acme", 0).await.expect("begins");
        let state = TenantContent::load(&mut tx).await.expect("loads");
        let context = PlanContext {
            tenant: "acme",
            owner: None,
            prune: true,
            force: true,
            domain: "acme",
            by: &by(),
            ids: &self.ids,
            resolvers: &[],
            operator: &[],
            changed_secrets: &HashSet::new(),
        };
        let plan = plan(&state, document, &context).expect("a plan");
        let keys = KeyRing::parse(&KeyRing::generate_key().expect("random")).expect("a key");
        let execution = Execution { keys: &keys, by: &by(), resolvers: &[], webhooks: &[] };
        execute(&mut tx, &plan, &execution).await.expect("writes");
        tx.commit().await.expect("commits");
        let writes = &plan.writes;
        let mut all = lines("rule", &writes.rules, |rule| rule.tuple.to_string());
        all.extend(lines("role", &writes.roles, |role| role.name.clone()));
        all.extend(lines("policy", &writes.policies, |it| it.name.clone()));
        let name = |it: &ResourceRecord| it.registration.name.clone();
        all.extend(lines("resource", &writes.resources, name));
        assert_eq!(all.is_empty(), plan.changes.is_empty(), "{:?}", plan.changes);
        all
    }

    /// Returns the ids and names of what decides.
    async fn stored(&self) -> Vec<(uuid::Uuid, String)> {
        let mut tx = self.store.begin_read("acme").await.expect("begins");
        let rules = rules::for_every_plan(&mut tx).await.expect("works");
        let policies = policies::for_every_plan(&mut tx).await.expect("works");
        let rules =
            rules.into_iter().map(|rule| (rule.id, format!("{} {}", rule.tuple, rule.effect)));
        let policies = policies.into_iter().map(|policy| (policy.id, policy.name));
        rules.chain(policies).collect()
    }
}

/// Returns a line for each write: `+`, `~` or `-`, then the object.
fn lines<T>(kind: &str, writes: &[RecordWrite<T>], name: impl Fn(&T) -> String) -> Vec<String> {
    let line = |write: &RecordWrite<T>| match write {
        RecordWrite::Insert(new) => format!("+ {kind} `{}`", name(new)),
        RecordWrite::Update { new, .. } => format!("~ {kind} `{}`", name(new)),
        RecordWrite::Delete(old) => format!("- {kind} `{}`", name(old)),
    };
    writes.iter().map(line).collect()
}

fn by() -> Authorship {
    Authorship { actor: "test".to_owned(), at: Timestamp::from_millis(1_000) }
}

#[tokio::test]
async fn an_empty_tenant_gets_everything_and_an_equal_one_nothing() {
    let world = World::new().await;
    let added = world.apply().await;
    assert_eq!(
        added,
        [
            "+ rule `writer, acme, wiki:read, read`",
            "+ rule `reader, acme, wiki:read, read`",
            "+ rule `guest, acme, wiki:read, read`",
            "+ policy `locked`",
            "+ policy `off`",
            "+ resource `wiki:read`",
        ]
    );
    let before = world.stored().await;
    assert_eq!(world.apply().await, [""; 0]);
    assert_eq!(world.stored().await, before);
}

#[tokio::test]
async fn only_the_difference_is_written() {
    let world = World::new().await;
    world.apply().await;
    let before = world.stored().await;
    edit(&world.tenant(), "policies.yaml", "priority: 10", "priority: 11");
    edit(&world.tenant(), "resources.yaml", "[reader, writer, guest]", "[reader, writer, boss]");
    edit(&world.tenant(), "rules.yaml", "effect: deny", "effect: allow");
    assert_eq!(
        world.apply().await,
        [
            "- rule `guest, acme, wiki:read, read`",
            "~ rule `writer, acme, wiki:read, read`",
            "+ rule `boss, acme, wiki:read, read`",
            "~ policy `locked`",
            "~ resource `wiki:read`",
        ]
    );
    let after = world.stored().await;
    // The reader's rule is as it was, and the policy has its id.
    assert_eq!(before.iter().filter(|known| after.contains(known)).count(), 2, "{after:?}");
}

#[tokio::test]
async fn roles_follow_their_file() {
    let world = World::new().await;
    world.apply().await;
    let file = world.tenant().join("roles.yaml");
    for (text, expected) in [
        (
            "- {name: a, includes: [x]}\n- {name: b, includes: [a]}\n",
            &["+ role `a`", "+ role `b`"][..],
        ),
        ("- {name: a, includes: [y]}\n", &["~ role `a`", "- role `b`"]),
        ("- {name: a, includes: [y]}\n", &[]),
    ] {
        std::fs::write(&file, text).expect("writable");
        assert_eq!(world.apply().await, expected);
    }
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(world.apply().await, ["- role `a`"]);
}

#[tokio::test]
async fn objects_that_the_files_do_not_have_go() {
    let world = World::new().await;
    world.apply().await;
    for file in ["rules.yaml", "policies.yaml", "resources.yaml"] {
        std::fs::write(world.tenant().join(file), "[]\n").expect("writable");
    }
    std::fs::write(world.tenant().join("cases.yaml"), "[]\n").expect("writable");
    let removed = world.apply().await;
    assert_eq!(removed.len(), 6, "{removed:?}");
    assert!(removed.iter().all(|change| change.starts_with("- ")), "{removed:?}");
    assert_eq!(world.stored().await, []);
    let mut tx = world.store.begin_read("acme").await.expect("begins");
    let resources = resources::list(&mut tx, Page::FIRST).await.expect("works").records;
    assert_eq!(resources.len(), 0, "{resources:?}");
    assert_eq!(world.apply().await, [""; 0]);
}

#[tokio::test]
async fn a_policy_moves_to_another_resource_and_a_default_rule_becomes_explicit() {
    let world = World::new().await;
    world.apply().await;
    edit(&world.tenant(), "policies.yaml", "resource: wiki:*", "resource: wiki:read");
    let explicit = "- {sub: reader, obj: wiki:read, act: read, effect: allow}\n- {sub: writer,";
    edit(&world.tenant(), "rules.yaml", "- {sub: writer,", explicit);
    assert_eq!(
        world.apply().await,
        ["~ rule `reader, acme, wiki:read, read`", "- policy `locked`", "+ policy `locked`"]
    );
    // The role does not make the rule any more, so it stays when the role goes.
    edit(&world.tenant(), "resources.yaml", "[reader, ", "[");
    assert_eq!(world.apply().await, ["~ resource `wiki:read`"]);
    let stored = world.stored().await;
    assert!(stored.iter().any(|(_, name)| name == "reader, acme, wiki:read, read allow"));
}

#[tokio::test]
async fn a_tenant_that_is_cleared_has_nothing_that_decides() {
    let world = World::new().await;
    world.apply().await;
    assert_eq!(world.apply_document(&BundleDocument::empty()).await.len(), 6);
    assert_eq!(world.stored().await, []);
}
