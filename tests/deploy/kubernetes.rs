//! The manifests for Kubernetes: against the schemas of Kubernetes, and against the service.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{document, programs, text};
use crate::support::process::{finish, repository};
use crate::support::{Provider, Request, Settings};

/// The oldest and the newest version of Kubernetes that the manifests are judged for.
const VERSIONS: [&str; 2] = ["1.29", "1.37"];

fn manifest(name: &str) -> Value {
    document(&format!("deploy/kubernetes/{name}"))
}

/// The container of the replicas.
fn container() -> Value {
    manifest("stateful-set.yaml")["spec"]["template"]["spec"]["containers"][0].take()
}

/// Whether the schemas accept a manifest, and the judge's words.
fn judged(bin: &Path, version: &str, path: &Path) -> (bool, String) {
    let mut judge = Command::new(bin.join("kubernetes-validate"));
    judge.args(["--strict", "-k", version]).arg(path).stdin(Stdio::null());
    let ended = finish(judge);
    (ended.code == Some(0), ended.out + &ended.err)
}

#[test]
fn every_manifest_follows_the_schemas_of_kubernetes() {
    let Some(bin) = programs() else { return };
    let folder = repository().join("deploy/kubernetes");
    let named = manifest("kustomization.yaml")["resources"].take();
    let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name());
    let mut files: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
    files.retain(|name| name != "kustomization.yaml");
    files.sort();
    assert_eq!(named, json!(files), "the kustomization has each file");
    for (file, version) in files.iter().flat_map(|file| VERSIONS.map(|version| (file, version))) {
        let (accepted, said) = judged(&bin, version, &folder.join(file));
        assert!(accepted, "{said}");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("wrong.yaml");
    std::fs::write(&path, text("deploy/kubernetes/stateful-set.yaml").replace("httpGet", "http"))
        .unwrap();
    let (accepted, said) = judged(&bin, VERSIONS[1], &path);
    assert!(!accepted && said.contains("'http' was unexpected"), "{said}");
}

#[test]
fn every_manifest_selects_the_replicas() {
    let set = manifest("stateful-set.yaml");
    let (set, pod) = (&set["spec"], &set["spec"]["template"]);
    let labels = &pod["metadata"]["labels"];
    let peers = manifest("peers.yaml");
    for selector in [
        &set["selector"]["matchLabels"],
        &pod["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"],
        &manifest("service.yaml")["spec"]["selector"],
        &manifest("disruption-budget.yaml")["spec"]["selector"]["matchLabels"],
        &peers["spec"]["selector"],
        &manifest("network-policy.yaml")["spec"]["podSelector"]["matchLabels"],
    ] {
        assert_eq!(selector, labels);
    }
    assert_eq!(set["serviceName"], peers["metadata"]["name"]);
    let volume = &set["volumeClaimTemplates"][0]["metadata"]["name"];
    assert_eq!(&container()["volumeMounts"][0]["name"], volume);
}

#[test]
fn only_prometheus_reaches_the_port_for_operators() {
    for service in ["peers.yaml", "service.yaml"] {
        let ports = manifest(service)["spec"]["ports"].take();
        assert!(!ports.to_string().contains("operator"), "{service}: {ports}");
        assert!(!ports.to_string().contains("9090"), "{service}: {ports}");
    }
    let rules = manifest("network-policy.yaml")["spec"]["ingress"].take();
    let port = |rule: &Value| rule["ports"][0]["port"].clone();
    assert_eq!([port(&rules[0]), port(&rules[1])], ["http", "operator"]);
    assert!(rules[0]["from"].is_null(), "every client: {rules}");
    assert!(rules[1]["from"][0]["namespaceSelector"].is_object(), "one namespace: {rules}");
    let named: Vec<_> =
        container()["ports"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(named, ["http", "operator"]);
}

#[test]
fn the_service_starts_with_the_settings_of_the_manifests_and_answers_the_probes() {
    let provider = Provider::shared();
    let mut settings = Settings::new(provider);
    let values = manifest("config-map.yaml")["data"].take();
    for (name, value) in values.as_object().unwrap() {
        settings = settings.set(name.clone().leak(), value.as_str().unwrap());
    }
    let code = settings.path("code");
    let server = settings
        .set("AUTH_SERVER_URL", provider.issuer())
        .set("LISTEN_ADDR", "127.0.0.1:0")
        .set("ADMIN_LISTEN_ADDR", "127.0.0.1:0")
        .set("RESOLVER_CODE_DIR", code.to_str().unwrap())
        .start();
    let container = container();
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        let path = container[probe]["httpGet"]["path"].as_str().unwrap();
        Request::new(format!("GET {path}")).send(server.address).is(200);
    }
    let guide = text("docs/operations.md");
    for variable in container["env"].as_array().unwrap() {
        let name = variable["name"].as_str().unwrap();
        assert!(guide.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn a_replica_serves_until_no_request_is_sent_to_it() {
    let values = manifest("config-map.yaml")["data"].take();
    let delay = values["SHUTDOWN_DELAY"].as_str().unwrap().strip_suffix('s').unwrap();
    let delay: u64 = delay.parse().unwrap();
    let container = container();
    let probe = |member: &str| container["readinessProbe"][member].as_u64().unwrap();
    assert!(delay > probe("periodSeconds") * probe("failureThreshold"));
    let pod = manifest("stateful-set.yaml")["spec"]["template"]["spec"].take();
    assert!(pod["terminationGracePeriodSeconds"].as_u64().unwrap() >= delay + 11);
}
