//! The host: one wasmtime engine and its pool of instances. Loads modules, binds them, and calls resolvers.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::{BoxFuture, FutureExt as _};
use portcullis_fairness::{Turn, TurnLimits, TurnQueue};
use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Linker;

use crate::answer::{self, AnsweredAttribute};
use crate::bindings::GuestPre;
use crate::compilations::Compilations;
use crate::compiled::CompiledStore;
use crate::compiler::Compiler;
use crate::contract::{Descriptor, Request};
use crate::digest::Digest;
use crate::engine;
use crate::environment::{Grant, Runtime};
use crate::error::{CallError, GrantError, LoadError};
use crate::imports;
use crate::limits::{COMPILE_TIMEOUT, DESCRIBE_TIMEOUT, Limits, SHARE, SLOT_WAIT};
use crate::log::Log;
use crate::module::{self, BoundResolver, Module};
use crate::store::{CallState, FinishedCall, GuestCall};
use crate::structure::{self, StructureLimits};
use crate::tasks;

/// The settings of an operator.
#[derive(Clone, Debug)]
pub struct HostSettings {
    /// The number of concurrent calls. Each reserves address space, and takes memory only while it runs.
    pub instances: u32,
    /// A directory for compiled code that no other user can enter. Without one, every start compiles all modules.
    pub compiled: Option<PathBuf>,
    /// The place where modules are compiled.
    pub compiler: Compiler,
}

/// Loads and runs resolvers.
pub struct ResolverHost {
    engine: Engine,
    linker: Linker<CallState>,
    compiled: Option<CompiledStore>,
    /// One turn per instance of the pool, and a quarter of them per tenant. wasmtime fails if the pool is empty, but a call
    /// should wait.
    instances: TurnQueue,
    compilations: Compilations,
    runtime: Arc<dyn Runtime>,
}

/// The outcome of a call.
#[derive(Debug)]
pub struct CallOutcome {
    /// The answered attributes, or the reason why there are none.
    pub result: Result<Vec<AnsweredAttribute>, CallError>,
    /// The guest's log, also of a failed call.
    pub log: Log,
    /// The wall time of the call, without the wait for an instance.
    pub elapsed: Duration,
    /// The peak of the guest's linear memory, in bytes.
    pub memory_bytes: usize,
}

impl ResolverHost {
    /// Makes the engine and starts the thread that advances its epoch.
    ///
    /// # Errors
    /// The address space, the directory or the thread is not available.
    pub fn new(settings: &HostSettings, runtime: Arc<dyn Runtime>) -> io::Result<Arc<Self>> {
        let engine = engine::running(settings.instances)?;
        let compiled = settings.compiled.as_deref();
        let compiled =
            compiled.map(|directory| CompiledStore::open(directory, &engine)).transpose()?;
        let at_once = settings.instances as usize;
        // Rounded up, so that each tenant can have one.
        let turns = TurnLimits { at_once, per_tenant: at_once.div_ceil(SHARE), ..TurnLimits::NONE };
        Ok(Arc::new(Self {
            linker: imports::linker(&engine).map_err(io::Error::other)?,
            engine,
            compiled,
            instances: TurnQueue::new(turns),
            compilations: Compilations::new(settings.compiler.clone(), runtime.clone()),
            runtime,
        }))
    }

    /// Returns the number of tenants with calls or compilations that run or wait; one with both counts twice.
    pub fn tenants(&self) -> usize {
        self.instances.tenants() + self.compilations.tenants()
    }

    /// Judges and compiles a module, or takes its stored code, and admits it: the host offers every import, the exports
    /// are a resolver's, and the descriptor is valid. The module waits for the turn of `tenant` at the compiler,
    /// and describes itself in an instance of the tenant's share.
    ///
    /// # Errors
    /// The fault of the module, in words for its author.
    pub async fn load(
        self: &Arc<Self>,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        tenant: &str,
    ) -> Result<Module, LoadError> {
        module::check_bytes(bytes.as_ref())?;
        let (host, size) = (self.clone(), bytes.as_ref().len());
        let known = self.run_blocking(move || {
            let digest = Digest(Sha256::digest(bytes.as_ref()).into());
            let known = host.compiled.as_ref().and_then(|code| code.load(&host.engine, &digest));
            // Code is only stored of modules that were judged before.
            if known.is_none() {
                structure::judge(bytes.as_ref(), &StructureLimits::default())?;
            }
            Ok::<_, LoadError>((digest, bytes, known))
        });
        let (digest, bytes, known) = known.await??;
        let is_new = known.is_none();
        let component = match known {
            Some(component) => component,
            None => self.compilations.compile(&self.engine, bytes, tenant).await?,
        };
        let (imports, pre) = module::link(&self.engine, &self.linker, &component)?;
        let descriptor = self.describe(pre.clone(), tenant).await?;
        let inputs = module::check_descriptor(&descriptor)?;
        // Only here: the code of a module that is refused is not stored.
        if is_new {
            let host = self.clone();
            let stored = self.run_blocking(move || {
                host.compiled.as_ref().map(|code| code.store(&digest, &component))
            });
            // The result is ignored: without stored code, the next start only takes longer.
            let _ = stored.await?;
        }
        Ok(Module { digest, size, imports, descriptor, inputs, pre })
    }

    /// Deletes the stored code of a module that no resolver uses any more.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn forget(&self, digest: &Digest) -> io::Result<()> {
        self.compiled.as_ref().map_or(Ok(()), |compiled| compiled.remove(digest))
    }

    /// Deletes stored code that is older than `before` and not among `used`, and files that a crash left behind. Keeps
    /// younger code, because its module may be about to be used.
    ///
    /// # Errors
    /// The directory cannot be read, or a file cannot be removed.
    pub async fn sweep(
        self: &Arc<Self>,
        used: HashSet<Digest>,
        before: SystemTime,
    ) -> io::Result<()> {
        let host = self.clone();
        let swept = self.run_blocking(move || match &host.compiled {
            Some(code) => code.sweep(&used, before),
            None => Ok(()),
        });
        swept.await.map_err(io::Error::other)?
    }

    /// Binds a module to the grant of its manifest. Its calls run in the instances of `tenant`.
    ///
    /// # Errors
    /// The part of the manifest that does not fit the module.
    pub fn bind(
        &self,
        module: Arc<Module>,
        grant: Grant,
        limits: Limits,
        tenant: &str,
    ) -> Result<BoundResolver, GrantError> {
        module::check_grant(&module.descriptor, &grant, limits)?;
        Ok(BoundResolver { module, grant: Arc::new(grant), limits, tenant: tenant.into() })
    }

    /// Calls a resolver in a fresh instance. Dropping the future ends the call.
    ///
    /// Lowers `request.budget_ms` to the resolver's timeout if it is higher.
    pub async fn resolve(&self, resolver: &BoundResolver, mut request: Request) -> CallOutcome {
        // Before the call, whose time begins when it is made.
        let turn = match self.turn(&resolver.tenant, SLOT_WAIT).await {
            Ok(turn) => turn,
            Err(error) => return CallOutcome::failed(error),
        };
        let limits = resolver.limits;
        let most = u32::try_from(limits.timeout.as_millis()).unwrap_or(u32::MAX);
        request.budget_ms = request.budget_ms.min(most);
        let now = Duration::from_millis(request.now_ms);
        let call = self.call(Some(resolver.grant.clone()), limits, now);
        let module = resolver.module.clone();
        let call = async move {
            let ended = call.resolve(&module.pre, &request).await;
            // The answer is checked without the instance, which another call may have now.
            drop(turn);
            CallOutcome::new(ended, |answer| match answer {
                Ok(resolution) => answer::check(&module.descriptor, &request, resolution),
                Err(error) => Err(answer::failure(error)),
            })
        };
        self.run_in_task(call.boxed()).await.unwrap_or_else(CallOutcome::failed)
    }

    /// Calls `describe`. No check waits for it, so it may wait long for an instance.
    async fn describe(
        &self,
        pre: GuestPre<CallState>,
        tenant: &str,
    ) -> Result<Descriptor, CallError> {
        let turn = self.turn(tenant, COMPILE_TIMEOUT).await?;
        let limits = Limits { timeout: DESCRIBE_TIMEOUT, ..Limits::default() };
        let call = self.call(None, limits, Duration::ZERO);
        let call = async move {
            let ended = call.describe(&pre).await;
            // Another call may have the instance now.
            drop(turn);
            ended.result
        };
        self.run_in_task(call.boxed()).await?
    }

    /// Runs a job that occupies its thread too long for an asynchronous task.
    async fn run_blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, LoadError> {
        tasks::run_blocking(&*self.runtime, job).await.ok_or(LoadError::Host)
    }

    fn call(&self, grant: Option<Arc<Grant>>, limits: Limits, now: Duration) -> GuestCall {
        GuestCall::new(&self.engine, self.runtime.clone(), grant, limits, now)
    }

    /// Waits until an instance is free, in the share of `tenant` and in the pool, but at most `most`.
    async fn turn(&self, tenant: &str, most: Duration) -> Result<Turn, CallError> {
        let turn = self.instances.begin_patiently(tenant);
        tasks::in_time(&*self.runtime, most, turn).await.ok_or(CallError::Busy(most))
    }

    /// Runs a call in its own task, so that a panic ends only that task. Ends the call if the caller goes away.
    async fn run_in_task<T: Send + 'static>(
        &self,
        call: BoxFuture<'static, T>,
    ) -> Result<T, CallError> {
        tasks::run(&*self.runtime, call).await.ok_or(CallError::Host)
    }
}

impl CallOutcome {
    fn new<T>(
        ended: FinishedCall<T>,
        check: impl FnOnce(T) -> Result<Vec<AnsweredAttribute>, CallError>,
    ) -> Self {
        let FinishedCall { result, log, elapsed, memory_bytes } = ended;
        Self { result: result.and_then(check), log, elapsed, memory_bytes }
    }

    fn failed(error: CallError) -> Self {
        let (log, elapsed) = (Log::default(), Duration::ZERO);
        Self { result: Err(error), log, elapsed, memory_bytes: 0 }
    }
}

impl std::fmt::Debug for ResolverHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("compiled", &self.compiled).finish_non_exhaustive()
    }
}
