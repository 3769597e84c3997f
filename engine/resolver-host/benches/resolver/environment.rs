//! A host whose tasks run on the measuring thread, or on threads of their own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::future::{BoxFuture, FutureExt as _};
use portcullis_resolver_host::{
    BoundResolver, Compiler, Grant, HostSettings, Limits, NoEndpoints, Request, ResolverHost,
    Runtime,
};

/// A runtime, and a host on it.
pub(crate) struct Bench {
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) host: Arc<ResolverHost>,
}

struct OnTokio {
    handle: tokio::runtime::Handle,
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
        self.handle.spawn(task);
    }

    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        job();
    }
}

impl Bench {
    pub(crate) fn new(compiled: Option<PathBuf>) -> Result<Self> {
        Self::on(tokio::runtime::Builder::new_current_thread().enable_all().build()?, compiled)
    }

    /// Runs calls on this many threads, besides the measuring one.
    pub(crate) fn with_threads(threads: usize) -> Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        Self::on(builder.worker_threads(threads).enable_all().build()?, None)
    }

    fn on(runtime: tokio::runtime::Runtime, compiled: Option<PathBuf>) -> Result<Self> {
        let (handle, begun) = (runtime.handle().clone(), Instant::now());
        let settings = HostSettings { instances: 64, compiled, compiler: Compiler::InProcess };
        let host = ResolverHost::new(&settings, Arc::new(OnTokio { handle, begun }))?;
        Ok(Self { runtime, host })
    }

    pub(crate) fn load(&self, bytes: Vec<u8>) -> Result<BoundResolver> {
        let module = Arc::new(self.runtime.block_on(self.host.load(bytes, &self.host.share()))?);
        let config = [("department".to_owned(), "sales".to_owned())].into();
        let grant = Grant { config, endpoints: Arc::new(NoEndpoints) };
        Ok(self.host.bind(module, grant, Limits::default(), self.host.share())?)
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
