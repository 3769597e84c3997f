//! `cargo bench -p portcullis-server --bench tenants [-- NAME …]`
//!
//! Stores 100,000 tenants, each with an identity provider of its own, starts the release server on them, and compares with
//! the bars what it costs to have them: start, memory, CPU while nobody asks, and the first check of a tenant
//! (`docs/performance.md`). The names select the databases, `sqlite` and `postgres`.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement that cannot be made ends the run"
)]

/// The set-up of this binary.
mod setup {
    pub(crate) const SAAS: bool = true;
    pub(crate) const POSTGRES: bool = false;
}

#[expect(unused_imports, reason = "the black-box tests use all of it")]
#[path = "../support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use portcullis_storage::Store;
use portcullis_storage::testing::execute;
use portcullis_test_postgres::Cluster;
use portcullis_workloads::report::{Bar, Group, Report};
use portcullis_workloads::tenants::{TenantDatabase, statements};
use serde_json::json;
use support::keys::Key;
use support::{Provider, Request, Server, Settings, costs};

const TENANTS: usize = 100_000;
/// The time for which the idle server is watched.
const IDLE: Duration = Duration::from_secs(30);
/// The tenants whose first check is timed.
const COLD: usize = 500;
/// Most CPU of the idle server, in percent of a core.
const MOST_CPU: f64 = 1.0;
/// Most memory of the idle server, in MiB.
const MOST_MEMORY: f64 = 300.0;
/// Most time of a first check beside the fetch of the key set, in milliseconds.
const MOST_FIRST: f64 = 10.0;

fn main() -> anyhow::Result<()> {
    let mut report = Report::from_args(std::env::args())?;
    let provider = Provider::new(vec![Key::p256("p256")]);
    report.group("sqlite", |group| {
        let settings = Settings::of(&provider);
        let url = format!("sqlite://{}", settings.path("portcullis.db").display());
        measure(group, &settings, (TenantDatabase::Sqlite, &url), &provider);
        Ok(())
    })?;
    report.group("postgres", |group| {
        let Some(cluster) = Cluster::shared() else { return Ok(()) };
        let database = cluster.database();
        let url = database.url().to_owned();
        let settings = Settings::of(&provider).on_database(database);
        measure(group, &settings, (TenantDatabase::Postgres, &url), &provider);
        Ok(())
    })?;
    report.finish()
}

fn measure(
    group: &mut Group<'_>,
    settings: &Settings,
    (database, url): (TenantDatabase, &str),
    provider: &Provider,
) {
    fill(database, url, provider);
    let began = Instant::now();
    let server = settings.start();
    group.measurement("start", began.elapsed().as_secs_f64() * 1e3, " ms", Bar::Shown);
    let memory =
        |field| costs::memory(server.process.id(), field).expect("it runs") as f64 / 1024.0;
    // The work of the start is over.
    std::thread::sleep(Duration::from_secs(5));
    let before = costs::cpu_time(server.process.id());
    std::thread::sleep(IDLE);
    let used = costs::cpu_time(server.process.id()).saturating_sub(before);
    let share = 100.0 * used.as_secs_f64() / IDLE.as_secs_f64();
    group.measurement("idle CPU", share, " % of a core", Bar::AtMost(MOST_CPU));
    group.measurement("memory after the start", memory("VmRSS:"), " MiB", Bar::AtMost(MOST_MEMORY));
    let fetch = median((0..COLD).map(|_| fetch(provider)).collect());
    let mut first: Vec<f64> = (1..=COLD).map(|number| check(&server, provider, number)).collect();
    first.sort_by(f64::total_cmp);
    group.measurement("fetch of a key set", fetch, " ms", Bar::Shown);
    let bar = Bar::AtMost(MOST_FIRST + fetch);
    group.measurement("first check of a tenant, median", first[COLD / 2], " ms", bar);
    group.measurement("first check of a tenant, p99", first[COLD * 99 / 100], " ms", Bar::Shown);
    let again = median((1..=COLD).map(|number| check(&server, provider, number)).collect());
    group.measurement("second check of a tenant, median", again, " ms", Bar::Shown);
    let what = format!("memory after checks of {COLD} tenants");
    group.measurement(what, memory("VmRSS:"), " MiB", Bar::AtMost(MOST_MEMORY));
    assert!(server.stop().success());
}

fn fill(database: TenantDatabase, url: &str, provider: &Provider) {
    let statements = statements(database, TENANTS, &realms(provider));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let store = Store::open(url).await.expect("opens");
        execute(&store, statements).await;
        if database == TenantDatabase::Postgres {
            execute(&store, ["ANALYZE".to_owned()]).await;
        }
        store.close().await;
    });
}

/// Returns the address below which each tenant has its issuer.
fn realms(provider: &Provider) -> String {
    let issuer = provider.issuer_of("");
    issuer.trim_end_matches('/').to_owned()
}

/// Fetches a key set as the server does, and returns the milliseconds.
fn fetch(provider: &Provider) -> f64 {
    let address = provider.issuer();
    let host = address.trim_start_matches("http://").trim_end_matches("/realm");
    let began = Instant::now();
    let reply = Request::new("GET /realms/t1/keys").send(host.parse().expect("an address"));
    assert_eq!(reply.status, 200);
    began.elapsed().as_secs_f64() * 1e3
}

/// Makes a check with a token of the tenant of this number, and returns the milliseconds.
fn check(server: &Server, provider: &Provider, number: usize) -> f64 {
    let tenant = format!("t{}", number * (TENANTS / COLD));
    let mut claims = provider.claims(&tenant, "ann", &["doctor"]);
    claims["iss"] = json!(provider.issuer_of(&tenant));
    let body = json!({"subject": "ann", "resource": "chart:read", "action": "read"});
    let request = Request::new("POST /api/v1/check").token(&provider.token(&claims)).json(&body);
    let began = Instant::now();
    let reply = request.send(server.address);
    let elapsed = began.elapsed().as_secs_f64() * 1e3;
    assert_eq!(reply.is(200).json()["decision"], "allow");
    elapsed
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
