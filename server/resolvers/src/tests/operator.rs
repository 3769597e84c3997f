//! The operator's resolvers.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;

fn install(directory: &Path, name: &str, component: &str, manifest: Option<serde_json::Value>) {
    fs::write(directory.join(format!("{name}.wasm")), self::component(component)).expect("writes");
    if let Some(manifest) = manifest {
        let file = directory.join(format!("{name}.json"));
        fs::write(file, manifest.to_string()).expect("writes");
    }
}

/// The directory of an operator, and resolvers that have not looked at it yet.
fn stage() -> (TempDir, Stage) {
    let directory = tempfile::tempdir().expect("a directory");
    let config = ResolverConfig {
        directory: Some(directory.path().to_owned()),
        ..ResolverConfig::default()
    };
    let stage = Stage::with(config, &["127.0.0.0/8"]);
    (directory, stage)
}

fn namespaces(stage: &Stage) -> Vec<String> {
    stage.resolvers.operator.all().into_iter().map(|installed| installed.namespace).collect()
}

/// One look at the directory.
async fn refresh(stage: &Stage) {
    stage.resolvers.operator.refresh(&stage.resolvers.runtime).await;
}

/// Two looks, after which a change counts.
async fn look(stage: &Stage) {
    refresh(stage).await;
    refresh(stage).await;
}

async fn department(stage: &Stage, tenant: &str) -> One {
    stage.ask(tenant, None, "ann", "department").await
}

#[tokio::test(start_paused = true)]
async fn every_tenant_has_them_unless_it_has_its_own() {
    let (files, stage) = stage();
    install(files.path(), "hr", "directory", Some(directory()));
    refresh(&stage).await;
    assert_eq!(namespaces(&stage), ["test"]);
    for tenant in ["acme", "bolt"] {
        let one = department(&stage, tenant).await;
        assert_eq!((one.resolved, one.source), (text("sales"), AnswerSource::Call), "{tenant}");
        assert_eq!(one.report.origin, Some(ResolverOrigin::Operator));
        let status = stage.resolvers.operator_status(tenant, "test").expect("a resolver");
        assert_eq!(status.measurements.calls, 1, "{tenant}");
    }
    let mut own = directory();
    own["config"]["department"] = "own".into();
    stage.put("acme", reference(1, 1), "directory", &own).await;
    let one = stage.ask("acme", Some(reference(1, 1)), "ann", "department").await;
    assert_eq!((one.resolved, one.report.origin), (text("own"), Some(ResolverOrigin::Tenant)));
}

#[tokio::test(start_paused = true)]
async fn one_tenants_failures_are_not_felt_by_others() {
    let (files, stage) = stage();
    install(files.path(), "hr", "behaviours", Some(behaviours(1)));
    refresh(&stage).await;
    for _ in 0..5 {
        stage.ask("acme", None, "panic", "text").await.cause();
    }
    let suspended = stage.ask("acme", None, "hello", "text").await;
    assert!(suspended.cause().starts_with("circuit breaker open"), "{}", suspended.cause());
    assert_eq!(stage.ask("bolt", None, "hello", "text").await.resolved, text("hello"));
}

#[tokio::test(start_paused = true)]
async fn a_name_is_a_namespace_where_there_is_no_manifest() {
    let (files, stage) = stage();
    install(files.path(), "network-zone", "stuck", None);
    install(files.path(), "No Namespace", "handles", None);
    install(files.path(), "open-handles", "handles", None);
    fs::write(files.path().join("notes.txt"), "not mine").expect("writes");
    refresh(&stage).await;
    assert_eq!(namespaces(&stage), ["open_handles"], "the others cannot be installed");
}

#[tokio::test(start_paused = true)]
async fn changes_are_picked_up_and_bad_files_change_nothing() {
    let (files, stage) = stage();
    install(files.path(), "hr", "directory", Some(directory()));
    refresh(&stage).await;
    assert_eq!(department(&stage, "acme").await.resolved, text("sales"));

    let mut changed = directory();
    changed["config"]["department"] = "research".into();
    fs::write(files.path().join("hr.json"), changed.to_string()).expect("writes");
    refresh(&stage).await;
    assert_eq!(
        department(&stage, "acme").await.source,
        AnswerSource::Cache,
        "one look is not enough"
    );
    refresh(&stage).await;
    let one = department(&stage, "acme").await;
    assert_eq!((one.resolved, one.source), (text("research"), AnswerSource::Call));

    for bad in ["{", r#"{"namespace": "test"}"#, r#"{"namespace": "context"}"#] {
        fs::write(files.path().join("hr.json"), bad).expect("writes");
        look(&stage).await;
        assert_eq!(department(&stage, "acme").await.resolved, text("research"), "{bad}");
    }
    let whole = component("directory");
    fs::write(files.path().join("hr.json"), changed.to_string()).expect("writes");
    fs::write(files.path().join("hr.wasm"), &whole[..whole.len() / 2]).expect("writes");
    look(&stage).await;
    assert_eq!(department(&stage, "acme").await.resolved, text("research"));

    for file in ["hr.wasm", "hr.json"] {
        fs::remove_file(files.path().join(file)).expect("is there");
    }
    look(&stage).await;
    assert_eq!(department(&stage, "acme").await.cause(), "there is no resolver `test`");
}

#[tokio::test(start_paused = true)]
async fn a_namespace_has_one_file_and_the_next_when_that_is_gone() {
    let (files, stage) = stage();
    install(files.path(), "a", "directory", Some(directory()));
    let mut other = directory();
    other["config"]["department"] = "other".into();
    install(files.path(), "b", "directory", Some(other));
    refresh(&stage).await;
    assert_eq!(namespaces(&stage), ["test"]);
    assert_eq!(department(&stage, "acme").await.resolved, text("sales"));
    fs::remove_file(files.path().join("a.wasm")).expect("is there");
    look(&stage).await;
    refresh(&stage).await;
    assert_eq!(department(&stage, "acme").await.resolved, text("other"));
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_is_gone_changes_nothing() {
    let (files, stage) = stage();
    install(files.path(), "hr", "directory", Some(directory()));
    refresh(&stage).await;
    fs::rename(files.path(), files.path().with_extension("away")).expect("moves");
    look(&stage).await;
    assert_eq!(department(&stage, "acme").await.resolved, text("sales"));
    fs::rename(files.path().with_extension("away"), files.path()).expect("moves");
}

#[tokio::test(start_paused = true)]
async fn compiled_code_that_a_tenant_gives_up_stays_while_it_is_installed() {
    let files = tempfile::tempdir().expect("a directory");
    let code = files.path().join("code");
    let config = ResolverConfig {
        directory: Some(files.path().to_owned()),
        code: Some(code.clone()),
        ..ResolverConfig::default()
    };
    let stage = Stage::with(config, &[]);
    install(files.path(), "hr", "directory", Some(directory()));
    refresh(&stage).await;
    let module = Arc::clone(&stage.resolvers.operator.all()[0].module);
    let count = || fs::read_dir(&code).expect("a directory").count();
    stage.resolvers.forget_code(&module.digest);
    assert_eq!(count(), 1);
    fs::remove_file(files.path().join("hr.wasm")).expect("is there");
    look(&stage).await;
    stage.resolvers.forget_code(&module.digest);
    assert_eq!(count(), 0);
}
