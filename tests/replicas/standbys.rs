//! Plans that are read from a standby of PostgreSQL.

use portcullis_test_postgres::Cluster;

use crate::support::server::migrate;
use crate::support::{Provider, Request, Settings, Tenant, eventually};

/// The number of loads that read this server.
fn loads(tenant: &Tenant<'_>, source: &str) -> f64 {
    let series = format!("portcullis_plan_load_sources_total{{source=\"{source}\"}} ");
    let text = Request::new("GET /metrics").send(tenant.address).is(200).text;
    let figure = text.lines().find_map(|line| line.strip_prefix(&series));
    figure.expect("the series").parse().expect("a figure")
}

#[test]
fn a_standby_serves_plans_and_never_an_old_one() {
    let Some(primary) = Cluster::replicated("") else { return };
    let database = primary.database();
    migrate(database.url());
    let mut standby = primary.standby("standby");
    let read = Cluster::url_of_all(&[&standby], database.name());
    let settings = Settings::of(Provider::shared()).set("DATABASE_READ_URL", read);
    let server = settings.on_database(database).start();
    let tenant = Tenant::of(&server, Provider::shared(), "read");
    let numbers = std::cell::Cell::new(0);
    // Each resource needs a load of its own.
    let next = || {
        numbers.set(numbers.get() + 1);
        format!("doc-{}:read", numbers.get())
    };
    tenant.rule("alice", "*", "read", "allow");
    eventually("the standby serves", || {
        tenant.decide("alice", &next(), "read").allowed() && loads(&tenant, "standby") > 0.0
    });

    standby.hold_replay(true);
    let rule = tenant.rule("bob", "doc-0:read", "read", "allow");
    tenant.decide("bob", "doc-0:read", "read").is("allow", &rule);
    assert!(loads(&tenant, "primary_standby_behind") > 0.0);
    standby.hold_replay(false);
    primary.standbys_catch_up();

    standby.freeze();
    assert!(tenant.decide("alice", &next(), "read").allowed());
    assert!(tenant.decide("alice", &next(), "read").allowed());
    assert!(loads(&tenant, "primary_standby_unavailable") >= 1.0);
    standby.thaw();
    let before = loads(&tenant, "standby");
    eventually("the standby serves again", || {
        tenant.decide("alice", &next(), "read").allowed() && loads(&tenant, "standby") > before
    });
}
