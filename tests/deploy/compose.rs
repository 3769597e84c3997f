//! `deploy/compose.yaml`: against its official schema, and against the service.

use portcullis_test_postgres::Cluster;
use serde_json::Value;

use super::{document, follows, programs};
use crate::support::{Provider, Request, Settings};

const PATH: &str = "deploy/compose.yaml";

fn service(name: &str) -> Value {
    document(PATH)["services"][name].take()
}

#[test]
fn it_follows_the_schema_of_compose() {
    let Some(bin) = programs() else { return };
    follows(&bin, "vendor.compose-spec", PATH, ("healthcheck:", "health:"));
}

#[test]
fn every_file_names_the_version_of_the_release() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(service("portcullis")["image"], format!("portcullis:{version}"));
    let images = document("deploy/kubernetes/kustomization.yaml")["images"].take();
    assert_eq!(images[0]["newTag"], version);
}

#[test]
fn the_service_starts_with_its_variables_on_a_database_of_its_statements() {
    let Some(cluster) = Cluster::shared() else { return };
    // The statements make the role and a database that it owns. The role of the tests is there, and is bound alike.
    let statements = document(PATH)["configs"]["role"]["content"].take();
    let statements: Vec<_> = statements.as_str().unwrap().lines().collect();
    assert!(statements[0].starts_with("CREATE ROLE portcullis LOGIN PASSWORD"), "{statements:?}");
    let provider = Provider::shared();
    let empty = cluster.database();
    let name = format!("{}_compose", empty.name());
    empty.sql(&statements[1].replace("DATABASE portcullis", &format!("DATABASE {name}")));

    let service = service("portcullis");
    let mut settings = Settings::new(provider);
    for (variable, value) in service["environment"].as_object().unwrap() {
        // The paths are those of the volume, and the secrets are set from outside.
        let value = value.as_str().unwrap();
        let state = settings.path("state");
        let own = value.replace("/var/lib/portcullis", state.to_str().unwrap());
        if !value.contains("${") {
            settings = settings.set(variable.clone().leak(), own);
        }
    }
    let settings = settings
        .set("DATABASE_URL", empty.url().replace(empty.name(), &name))
        .set("LISTEN_ADDR", "127.0.0.1:0")
        .set("AUTH_SERVER_URL", provider.issuer())
        .set("JWKS_URI", provider.jwks_uri());
    let server = settings.start();
    Request::new("GET /healthz/ready").send(server.address).is(200);
    let probe: Vec<_> = service["healthcheck"]["test"].as_array().unwrap().iter().collect();
    assert_eq!(probe[..2], ["CMD", "/usr/bin/portcullis"]);
    let arguments: Vec<_> = probe[2..].iter().map(|it| it.as_str().unwrap()).collect();
    let running = settings.set("LISTEN_ADDR", server.address.to_string());
    assert_eq!(running.run(&arguments).code, Some(0));
    server.stop();
    assert_eq!(running.run(&arguments).code, Some(1));
    empty.sql(&format!("DROP DATABASE {name} WITH (FORCE)"));
}
