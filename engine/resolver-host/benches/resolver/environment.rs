//! A host whose tasks run on the thread that calls it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::future::{BoxFuture, FutureExt as _};
use portcullis_resolver_host::{
    BoundResolver, Compiler, Grant, HostSettings, Limits, Request, ResolverHost, Runtime,
};

use crate::no_endpoints::NoEndpoints;

/// A runtime, and a host on it.
pub(crate) struct Bench {
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) host: Arc<ResolverHost>,
}

/// Runs the tasks of a call on the runtime that makes it.
struct OnTokio {
    begun: Instant,
}

impl Runtime for OnTokio {
    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(time).boxed()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }

    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        // On this thread, because its CPU time is what counts.
        job();
    }
}

impl Bench {
    pub(crate) fn new(compiled: Option<PathBuf>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let begun = Instant::now();
        let settings = HostSettings { instances: 64, compiled, compiler: Compiler::InProcess };
        let host = ResolverHost::new(&settings, Arc::new(OnTokio { begun }))?;
        Ok(Self { runtime, host })
    }

    pub(crate) fn load(&self, bytes: Vec<u8>) -> Result<BoundResolver> {
        let module = Arc::new(self.runtime.block_on(self.host.load(bytes, "bench"))?);
        let config = [("department".to_owned(), "sales".to_owned())].into();
        let grant = Grant { config, endpoints: Arc::new(NoEndpoints) };
        Ok(self.host.bind(module, grant, Limits::default(), "bench")?)
    }
}

pub(crate) fn request() -> Request {
    Request {
        tenant: "acme".to_owned(),
        subject: "ann".to_owned(),
        domain: "acme".to_owned(),
        resource: "wiki:read".to_owned(),
        action: "read".to_owned(),
        roles: vec!["manager".to_owned()],
        user: vec![],
        resource_attributes: vec![],
        wanted: vec!["department".to_owned()],
        now_ms: 1_700_000_000_000,
        budget_ms: 250,
        ext: vec![],
    }
}
