//! The commands of `docs/operations.md` that back up and restore PostgreSQL do what the document says.

#![expect(clippy::expect_used, reason = "a test that cannot begin has failed")]

use std::fs;

use portcullis_test_postgres::Cluster;

use crate::everywhere::console::browser::{Browser, location};
use crate::support::process::repository;
use crate::support::server::PUBLIC_URL;
use crate::support::{Provider, Settings, Tenant};

/// Returns the commands of the document, in order.
fn commands() -> String {
    let document = fs::read_to_string(repository().join("docs/operations.md")).expect("it exists");
    let (_, section) = document.split_once("\n## Backup\n").expect("a section about backups");
    let (_, section) = section.split_once("\n### PostgreSQL\n").expect("one about PostgreSQL");
    let blocks = section.split("```sh\n").skip(1);
    blocks.filter_map(|block| block.split("```").next()).collect()
}

/// Runs a script beside `cluster`, and returns what it writes to its standard error.
fn run(cluster: &Cluster, database: &str, script: &str) -> Result<(), String> {
    let output = cluster.shell(script).env("DATABASE", database).output().expect("a shell");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(complaint) }
}

#[test]
fn a_dump_of_the_documented_role_has_everything() {
    let Some(cluster) = Cluster::own() else { return };
    let database = cluster.database();
    let (name, settings) = (database.name().to_owned(), Settings::new(Provider::shared()));
    let settings = settings.on_database(database);
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "kept");
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let printed = settings.run(&["console", "link", "--tenant", &tenant.id, "--as", "ines"]);
    let link = printed.out.trim().trim_start_matches(PUBLIC_URL);
    let mut browser = Browser::new(server.address);
    let page = browser.get(link).is(200);
    let me = format!("{}me", location(&browser.post(link, &page, &[]).is(303)));
    run(&cluster, &name, &commands()).expect("the commands of the document work");

    let restored = cluster.existing(&format!("{name}_restored"));
    let second = Settings::new(Provider::shared()).on_database(restored).start();
    tenant.at(&second).decide("alice", "doc:read", "read").is("allow", &rule);
    browser.at(second.address).get(&me).is(200);
    // The restored database is the service's own: it writes.
    tenant.at(&second).rule("bob", "doc:read", "read", "allow");
}

#[test]
fn a_dump_of_the_own_role_is_refused() {
    let Some(cluster) = Cluster::own() else { return };
    let database = cluster.database();
    let name = database.name().to_owned();
    let _server = Settings::new(Provider::shared()).on_database(database).start();
    let dump = "pg_dump --username=portcullis --file=/dev/null \"$DATABASE\"";
    let complaint = run(&cluster, &name, dump).expect_err("row-level security holds");
    assert!(complaint.contains("row-level security"), "{complaint}");
}
