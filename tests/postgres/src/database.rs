//! Databases: made for one test, from nothing or from a template, and dropped with the value.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::cluster::{Cluster, PORT};
use crate::run::lock;
use crate::session::{Session, SqlError};

/// The role that tests look behind the curtain as.
pub(crate) const SUPERUSER: &str = "postgres";

/// The role that owns all databases, and connects to them. It is one for all, because a clone keeps the owners
/// of the tables of its template.
pub(crate) const OWNER: &str = "portcullis";

/// SQLSTATE `invalid_catalog_name`: there is no such database.
const NO_SUCH_DATABASE: &str = "3D000";

/// Whom a [`Session`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The owner of the database and of its schema `public`, whom the URL names: an ordinary role, which
    /// forced row-level security applies to.
    Owner,
    /// May do everything, whatever the policies say.
    Superuser,
}

/// A database of its own, dropped with the value.
#[derive(Debug)]
pub struct Database {
    name: String,
    url: String,
    socket: PathBuf,
}

impl Cluster {
    /// An empty database. Takes 10 to 40 ms.
    #[must_use]
    #[track_caller]
    pub fn database(&self) -> Database {
        let created = self.create("template1");
        created.unwrap_or_else(|fault| panic!("no database: {fault}"))
    }

    /// A database as `prepare` has left it, which is called with an empty one, once in a run for each name of
    /// a template (letters, digits and `_`); all others get a clone, which takes about as long as an empty
    /// database. Connections that it leaves open are closed.
    ///
    /// It blocks. A `prepare` that needs an async runtime has to make one, on a thread of its own if the
    /// caller is in one already.
    #[must_use]
    #[track_caller]
    pub fn database_from(&self, template: &str, prepare: impl FnOnce(&Database)) -> Database {
        let usual = |character: char| character.is_ascii_alphanumeric() || character == '_';
        assert!(template.chars().all(usual), "`{template}` is no name of a template");
        let template = format!("template_{template}");
        if let Some(clone) = self.clone_of(&template) {
            return clone;
        }
        let _alone = lock(&self.directory().join(format!("{template}.lock")));
        // Another one may have prepared it while we waited.
        self.clone_of(&template).unwrap_or_else(|| {
            self.prepare(&template, prepare);
            self.clone_of(&template).expect("it is prepared now")
        })
    }

    /// It gets its name only when it is complete, so that a failure leaves nothing to clone.
    #[track_caller]
    fn prepare(&self, template: &str, prepare: impl FnOnce(&Database)) {
        let draft = self.database();
        prepare(&draft);
        let name = draft.name();
        let mut server = self.session(SUPERUSER, "postgres");
        // A pool closes its connections when it pleases, and nobody can clone what somebody is using.
        server.execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"));
        server.execute(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        ));
        server.execute(&format!(r#"ALTER DATABASE {name} RENAME TO "{template}""#));
    }

    #[track_caller]
    fn clone_of(&self, template: &str) -> Option<Database> {
        match self.create(template) {
            Ok(database) => Some(database),
            Err(fault) if fault.code == NO_SUCH_DATABASE => None,
            Err(fault) => panic!("no clone of `{template}`: {fault}"),
        }
    }

    fn create(&self, template: &str) -> Result<Database, SqlError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let name = format!("test_{process}_{count}");
        let socket = self.socket();
        Session::open(&socket, SUPERUSER, "postgres")?.try_execute(&format!(
            r#"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE "{template}" {}"#,
            self.strategy()
        ))?;
        Ok(Database { url: self.url(&name), name, socket })
    }

    /// The port is in it because drivers take another one from the environment.
    fn url(&self, database: &str) -> String {
        let host = self.directory().display().to_string().replace('/', "%2F");
        format!("postgres://{OWNER}@localhost:{PORT}/{database}?host={host}")
    }
}

impl Database {
    /// `postgres://…`, for the owner, as sqlx and `psql` read it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its name in the cluster, for a look at `pg_stat_activity`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs statements as superuser on a connection of their own, and gives the rows as `psql -At` does.
    #[track_caller]
    pub fn sql(&self, sql: &str) -> String {
        self.session(Role::Superuser).execute(sql)
    }

    /// A connection, for a test that holds a transaction open or expects an error.
    #[must_use]
    #[track_caller]
    pub fn session(&self, role: Role) -> Session {
        let user = match role {
            Role::Owner => OWNER,
            Role::Superuser => SUPERUSER,
        };
        match Session::open(&self.socket, user, &self.name) {
            Ok(session) => session,
            Err(fault) => panic!("cannot connect to `{}`: {fault}", self.name),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The server may be gone, and everything in it; besides, a test may be failing for a better reason.
        if let Ok(mut server) = Session::open(&self.socket, SUPERUSER, "postgres") {
            let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
            let _ = server.try_execute(&drop);
        }
    }
}
