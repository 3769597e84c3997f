//! Databases: made for one test, from nothing or from a template, and dropped with the value.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::cluster::{Cluster, PORT};
use crate::run::lock;
use crate::session::{Session, SqlError};

/// The role that tests use to read what the owner of a database cannot see.
pub(crate) const SUPERUSER: &str = "postgres";

/// The role that owns all databases and connects to them. All databases have the same owner, because a clone keeps
/// the owners of the tables of its template.
pub(crate) const OWNER: &str = "portcullis";

/// SQLSTATE `invalid_catalog_name`: there is no such database.
const NO_SUCH_DATABASE: &str = "3D000";

/// The role of a [`Session`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The owner of the database and of its schema `public`, as in the URL. Forced row-level security applies to
    /// this role.
    Owner,
    /// A role that row-level security does not apply to.
    Superuser,
}

/// A database for one test, dropped with the value.
#[derive(Debug)]
pub struct Database {
    name: String,
    url: String,
    socket: PathBuf,
}

impl Cluster {
    /// Makes an empty database. This takes 10 to 40 ms.
    #[must_use]
    #[track_caller]
    pub fn database(&self) -> Database {
        let created = self.create("template1");
        created.unwrap_or_else(|fault| panic!("no database: {fault}"))
    }

    /// Makes a database with the content that `prepare` writes. `prepare` gets an empty database, once in a run for
    /// each name of a template (letters, digits and `_`). Each later call clones the template, which takes about as
    /// long as an empty database. Connections that `prepare` leaves open are closed.
    ///
    /// The function blocks. A `prepare` that needs an async runtime makes its own, on its own thread if the
    /// caller is in a runtime.
    #[must_use]
    #[track_caller]
    pub fn database_from(&self, template: &str, prepare: impl FnOnce(&Database)) -> Database {
        let usual = |character: char| character.is_ascii_alphanumeric() || character == '_';
        assert!(template.chars().all(usual), "`{template}` is not the name of a template");
        let template = format!("template_{template}");
        if let Some(clone) = self.clone_of(&template) {
            return clone;
        }
        let _alone = lock(&self.directory().join(format!("{template}.lock")));
        // Another process may have prepared the template during the wait for the lock.
        self.clone_of(&template).unwrap_or_else(|| {
            self.prepare(&template, prepare);
            self.clone_of(&template).expect("it is prepared now")
        })
    }

    /// Prepares a template. It gets its name when it is complete, so a failure leaves nothing to clone.
    #[track_caller]
    fn prepare(&self, template: &str, prepare: impl FnOnce(&Database)) {
        let draft = self.database();
        prepare(&draft);
        let name = draft.name();
        let mut server = self.session(SUPERUSER, "postgres");
        // A pool may close its connections late, and PostgreSQL does not clone a database that is in use.
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

    /// Returns a database of this server that exists already.
    #[must_use]
    pub fn existing(&self, name: &str) -> Database {
        Database { url: self.url(name), name: name.to_owned(), socket: self.socket() }
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

    /// Returns the URL of a database. It has the port, because drivers otherwise take one from the environment.
    fn url(&self, database: &str) -> String {
        let host = self.directory().display().to_string().replace('/', "%2F");
        format!("postgres://{OWNER}@localhost:{PORT}/{database}?host={host}")
    }
}

impl Database {
    /// Returns the URL for the owner, `postgres://…`, in the form that sqlx and `psql` read.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the name of the database, as `pg_stat_activity` shows it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs statements as superuser on a new connection, and returns the rows as `psql -At` prints them.
    #[track_caller]
    pub fn sql(&self, sql: &str) -> String {
        self.session(Role::Superuser).execute(sql)
    }

    /// Opens a connection, for a test that holds a transaction open or expects an error.
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
        // The server may be stopped. A failure here must not hide the failure of a test.
        if let Ok(mut server) = Session::open(&self.socket, SUPERUSER, "postgres") {
            let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
            let _ = server.try_execute(&drop);
        }
    }
}
