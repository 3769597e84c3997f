//! A host on tokio, endpoints that answer from memory, and helpers to load and call.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, FutureExt as _};
use portcullis_resolver_host::limits::SLOT_WAIT;
use portcullis_resolver_host::{
    AnsweredAttribute, BoundResolver, CallError, CallOutcome, Compiler, Endpoints, Failure,
    FailureKind, Grant, HostSettings, HttpRequest, HttpResponse, Limits, LoadError, Module,
    Request, ResolverHost, Runtime, SendError, Sending, Value,
};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};

/// Limits that suffice for every call that must succeed, also on a busy machine.
pub(crate) const GENEROUS: Limits =
    Limits { timeout: Duration::from_secs(30), memory_bytes: 64 << 20 };

/// Limits for calls that must time out. The timeout differs from [`SLOT_WAIT`], by which `Tokio` distinguishes them.
pub(crate) const BRIEF: Limits = Limits { timeout: Duration::from_millis(120), ..GENEROUS };

pub(crate) struct Tokio {
    handle: Handle,
    begun: Instant,
    /// True if a call waits for an instance without limit. Only tests of that limit set it to false.
    patient: bool,
    /// The number of jobs that ran in the background.
    pub(crate) jobs: AtomicUsize,
}

impl Runtime for Tokio {
    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        if self.patient && time == SLOT_WAIT {
            return std::future::pending().boxed();
        }
        tokio::time::sleep(time).boxed()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.handle.spawn(task);
    }

    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        self.handle.spawn_blocking(job);
    }
}

/// One endpoint, `source`, with a fixed behaviour.
pub(crate) enum Source {
    /// Answers with this status and this body.
    Answers(u16, Vec<u8>),
    Fails,
    Refuses,
    TooLarge,
    /// Reports each request, and answers when it gets a permit.
    Waits(mpsc::UnboundedSender<()>, Arc<Semaphore>),
}

impl Endpoints for Source {
    fn has(&self, endpoint: &str) -> bool {
        endpoint == "source"
    }

    fn send<'a>(&'a self, _: &'a str, request: HttpRequest, _: usize) -> Sending<'a> {
        async move {
            let response = |status, body: &[u8]| {
                Ok(HttpResponse { status, headers: vec![], body: body.into() })
            };
            if request.path == "/refused" {
                return Err(SendError::Refused("the path is not allowed".to_owned()));
            }
            match self {
                Self::Answers(status, body) => response(*status, body),
                Self::Fails => Err(SendError::Failed(down())),
                Self::Refuses => Err(SendError::Refused("10.0.0.1 is not allowed".to_owned())),
                Self::TooLarge => Err(SendError::TooLarge),
                Self::Waits(asked, permits) => {
                    asked.send(()).unwrap();
                    permits.acquire().await.unwrap().forget();
                    response(200, b"at last")
                }
            }
        }
        .boxed()
    }
}

pub(crate) fn down() -> Failure {
    Failure { kind: FailureKind::Unreachable, message: "connection refused".to_owned() }
}

/// Makes a host of eight instances, so that a share is two, and its runtime.
pub(crate) fn host_with(
    compiled: Option<PathBuf>,
    patient: bool,
) -> (Arc<ResolverHost>, Arc<Tokio>) {
    host_of(compiled, patient, Compiler::InProcess)
}

/// Makes a host as [`host_with`] does, with this compiler.
pub(crate) fn host_of(
    compiled: Option<PathBuf>,
    patient: bool,
    compiler: Compiler,
) -> (Arc<ResolverHost>, Arc<Tokio>) {
    let (handle, begun) = (Handle::current(), Instant::now());
    let runtime = Arc::new(Tokio { handle, begun, patient, jobs: AtomicUsize::new(0) });
    let settings = HostSettings { instances: 8, compiled, compiler };
    (ResolverHost::new(&settings, runtime.clone()).unwrap(), runtime)
}

pub(crate) fn host() -> Arc<ResolverHost> {
    host_with(None, true).0
}

pub(crate) fn component(name: &str) -> Vec<u8> {
    portcullis_test_guests::component(name).unwrap()
}

pub(crate) async fn load(
    host: &Arc<ResolverHost>,
    bytes: Vec<u8>,
) -> Result<Arc<Module>, LoadError> {
    host.load(bytes, "guests").await.map(Arc::new)
}

pub(crate) fn grant(config: &[(&str, &str)], source: Source) -> Grant {
    let config: BTreeMap<_, _> =
        config.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Grant { config, endpoints: Arc::new(source) }
}

/// Loads the component that behaves as the subject says, for its own tenant.
pub(crate) async fn behaviours(
    host: &Arc<ResolverHost>,
    limits: Limits,
    source: Source,
) -> BoundResolver {
    let module = load(host, component("behaviours")).await.unwrap();
    host.bind(module, grant(&[("greeting", "hello")], source), limits, "behaviours").unwrap()
}

/// Loads the component that behaves well, for another tenant.
pub(crate) async fn directory(host: &Arc<ResolverHost>) -> BoundResolver {
    let module = load(host, component("directory")).await.unwrap();
    host.bind(module, grant(&[("department", "sales")], answers()), GENEROUS, "directory").unwrap()
}

pub(crate) fn answers() -> Source {
    Source::Answers(200, b"a page".to_vec())
}

pub(crate) fn request(subject: &str, wanted: &[&str]) -> Request {
    Request {
        tenant: "acme".to_owned(),
        subject: subject.to_owned(),
        domain: "acme".to_owned(),
        resource: "wiki:read".to_owned(),
        action: "read".to_owned(),
        roles: vec!["manager".to_owned()],
        user: vec![],
        resource_attributes: vec![],
        wanted: wanted.iter().map(|&name| name.to_owned()).collect(),
        now_ms: 1_700_000_000_000,
        budget_ms: u32::MAX,
        ext: vec![],
    }
}

/// Makes the component behave as `subject` says; `text` is wanted.
pub(crate) async fn behave(
    host: &ResolverHost,
    resolver: &BoundResolver,
    subject: &str,
) -> CallOutcome {
    host.resolve(resolver, request(subject, &["text"])).await
}

/// Returns the answered text.
pub(crate) fn text(outcome: CallOutcome) -> Result<String, CallError> {
    let answer = outcome.result?;
    match &answer[..] {
        [AnsweredAttribute { value: Some(Value::Text(text)), .. }] => Ok(text.clone()),
        other => panic!("one text expected, not {other:?}"),
    }
}

/// Verifies that the resolver that behaves well still answers.
pub(crate) async fn assert_healthy(host: &ResolverHost, directory: &BoundResolver) {
    let outcome = host.resolve(directory, request("ann", &["department"])).await;
    assert_eq!(text(outcome), Ok("sales".to_owned()));
}
