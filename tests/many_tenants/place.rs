//! A database with tenants, and their requests.

use std::time::{Duration, Instant};

use portcullis_storage::Store;
use portcullis_storage::testing::execute;
use portcullis_test_postgres::Cluster;
use portcullis_workloads::tenants::{TenantDatabase, TenantSizes, statements};
use serde_json::{Value, json};

use crate::support::keys::Key;
use crate::support::{Provider, Reply, Request, Server, Settings, costs};

/// A database, and the identity provider of all its tenants.
pub(crate) struct Place {
    pub(crate) provider: Provider,
    pub(crate) settings: Settings,
    database: TenantDatabase,
    url: String,
}

impl Place {
    /// Returns an empty SQLite database.
    pub(crate) fn sqlite() -> Option<Self> {
        let provider = Provider::new(vec![Key::p256("p256")]);
        let settings = Settings::new(&provider);
        let url = format!("sqlite://{}", settings.path("portcullis.db").display());
        Some(Self { provider, settings, database: TenantDatabase::Sqlite, url })
    }

    /// Returns an empty PostgreSQL database; `None` if PostgreSQL is not installed.
    pub(crate) fn postgres() -> Option<Self> {
        let database = Cluster::shared()?.database();
        let provider = Provider::new(vec![Key::p256("p256")]);
        let url = database.url().to_owned();
        let settings = Settings::new(&provider).on_database(database);
        Some(Self { provider, settings, database: TenantDatabase::Postgres, url })
    }

    /// Stores tenants of these sizes.
    pub(crate) fn fill(&self, sizes: TenantSizes) {
        let issuer = self.provider.issuer_of("");
        let statements = statements(self.database, sizes, issuer.trim_end_matches('/'));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let store = Store::open(&self.url).await.expect("opens");
            execute(&store, statements).await;
            if self.database == TenantDatabase::Postgres {
                execute(&store, ["ANALYZE".to_owned()]).await;
            }
            store.close().await;
        });
    }

    /// Starts a server with `settings` some times, and returns the median of the milliseconds and the last server.
    pub(crate) fn start(&self, settings: &Settings, times: usize) -> (f64, Server) {
        let start = || {
            let began = Instant::now();
            let server = settings.start();
            (milliseconds(began.elapsed()), server)
        };
        let mut all: Vec<f64> = (1..times)
            .map(|_| {
                let (took, server) = start();
                assert!(server.stop().success());
                took
            })
            .collect();
        let (took, server) = start();
        all.push(took);
        (median(all), server)
    }

    /// Returns a token of a person of `tenant`.
    pub(crate) fn token(&self, tenant: usize, roles: &[&str]) -> String {
        let tenant = format!("t{tenant}");
        let mut claims = self.provider.claims(&tenant, "ann", roles);
        claims["iss"] = json!(self.provider.issuer_of(&tenant));
        self.provider.token(&claims)
    }
}

/// Sends `body`, and returns the answer and its milliseconds.
pub(crate) fn send(server: &Server, route: &str, token: &str, body: &Value) -> (Reply, f64) {
    let request = Request::new(route).token(token).json(body);
    let began = Instant::now();
    let reply = request.send(server.address);
    let elapsed = milliseconds(began.elapsed());
    (reply.is(200), elapsed)
}

/// Checks that the holder of `token` may read a resource, and returns the milliseconds.
pub(crate) fn check(server: &Server, token: &str, resource: usize) -> f64 {
    let (reply, elapsed) = send(server, "POST /api/v1/check", token, &question(resource));
    assert_eq!(reply.json()["decision"], "allow");
    elapsed
}

/// Returns the body of a check of a resource.
pub(crate) fn question(resource: usize) -> Value {
    json!({
        "subject": "ann", "resource": format!("object-{resource}:read"), "action": "read",
        "attributes": {"user": {"department": "none", "clearance": 5}, "resource": {"region": "north"}},
    })
}

/// Returns a field of the memory of the server, such as `VmRSS:`, in MiB.
pub(crate) fn memory(server: &Server, field: &str) -> f64 {
    costs::memory(server.process.id(), field).expect("it runs") as f64 / 1024.0
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
