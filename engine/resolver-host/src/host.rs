//! The host: one wasmtime engine, its pool of instances, and what goes in and out.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::{BoxFuture, Either, FutureExt as _, select};
use sha2::{Digest as _, Sha256};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, oneshot};
use wasmtime::component::{Component, Linker};
use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Strategy,
};

use crate::answer::{self, Answered};
use crate::bindings::GuestPre;
use crate::compiled::Compiled;
use crate::contract::{Descriptor, Request};
use crate::digest::Digest;
use crate::error::{BindError, CallError, LoadError};
use crate::grant::Grant;
use crate::imports;
use crate::limits::{
    COMPILE_TIMEOUT, CORE_INSTANCES, DESCRIBE_TIMEOUT, Limits, MEMORY_BYTES, SHARE, SLOT_WAIT,
    STACK_BYTES, TABLES, TICK,
};
use crate::log::Log;
use crate::module::{self, Module, Resolver};
use crate::share::Share;
use crate::store::{Call, Ended, State};
use crate::surroundings::Runtime;

/// What an operator sets.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many calls run at once. Each reserves address space, and takes memory only while it runs.
    pub instances: u32,
    /// A directory for compiled code, which nobody else can enter; without one, every start compiles anew.
    pub compiled: Option<PathBuf>,
}

/// Runs resolvers.
pub struct Host {
    engine: Engine,
    linker: Linker<State>,
    compiled: Option<Compiled>,
    /// As many as the pool has: an empty pool is an error, where a call should wait.
    slots: Arc<Semaphore>,
    /// How many of them a tenant may use.
    share: usize,
    /// Compilation takes all the processors that there are, and much memory: one at a time.
    compiling: Arc<Semaphore>,
    runtime: Arc<dyn Runtime>,
}

/// What came of a call.
#[derive(Debug)]
pub struct Outcome {
    /// The attributes that were answered, or why there are none.
    pub result: Result<Vec<Answered>, CallError>,
    /// What the guest said, also when it failed.
    pub log: Log,
    /// Wall time of the call, without waiting for an instance.
    pub elapsed: Duration,
    /// The most linear memory that the guest had.
    pub memory_bytes: usize,
}

impl Host {
    /// Makes the engine and starts its ticker.
    ///
    /// # Errors
    /// The address space, the directory or the thread is not to be had.
    pub fn new(settings: &Settings, runtime: Arc<dyn Runtime>) -> io::Result<Arc<Self>> {
        let engine = Engine::new(&config(settings.instances)).map_err(io::Error::other)?;
        let compiled = settings.compiled.as_deref();
        let compiled = compiled.map(|directory| Compiled::open(directory, &engine)).transpose()?;
        let slots = settings.instances as usize;
        start_ticker(&engine)?;
        Ok(Arc::new(Self {
            linker: imports::linker(&engine).map_err(io::Error::other)?,
            engine,
            compiled,
            slots: Arc::new(Semaphore::new(slots)),
            share: slots.div_ceil(SHARE),
            compiling: Arc::new(Semaphore::new(1)),
            runtime,
        }))
    }

    /// A quarter of the instances, for a tenant.
    pub fn share(&self) -> Share {
        Share::of(self.share)
    }

    /// Compiles a module, or takes the code that was compiled before, and admits it: its imports are offered, its
    /// exports are those of a resolver, and what it says of itself makes sense. It says so in an instance of `share`.
    ///
    /// # Errors
    /// What is wrong with the module, in words for whoever made it.
    pub async fn load(
        self: &Arc<Self>,
        bytes: impl AsRef<[u8]> + Send + 'static,
        share: &Share,
    ) -> Result<Module, LoadError> {
        module::check_bytes(bytes.as_ref())?;
        let (host, size) = (self.clone(), bytes.as_ref().len());
        let known = self.in_the_background(move || {
            let digest = Digest(Sha256::digest(bytes.as_ref()).into());
            let known = host.compiled.as_ref().and_then(|code| code.load(&host.engine, &digest));
            (digest, bytes, known)
        });
        let (digest, bytes, known) = known.await?;
        let is_new = known.is_none();
        let component = match known {
            Some(component) => component,
            None => self.compile(bytes).await?,
        };
        let (imports, pre) = module::link(&self.engine, &self.linker, &component)?;
        let descriptor = self.describe(pre.clone(), share).await?;
        let inputs = module::check_descriptor(&descriptor)?;
        if is_new {
            let host = self.clone();
            let keep = move || host.compiled.as_ref().map(|code| code.store(&digest, &component));
            // A full disk costs the next start some time, and nothing else.
            let _ = self.in_the_background(keep).await?;
        }
        Ok(Module { digest, size, imports, descriptor, inputs, pre })
    }

    /// Drops the compiled code of a module that no resolver uses any more.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn forget(&self, digest: &Digest) -> io::Result<()> {
        self.compiled.as_ref().map_or(Ok(()), |compiled| compiled.remove(digest))
    }

    /// Drops compiled code that was written before `before`, of modules that are not among `used`, and what a crash
    /// left behind. Younger code may be of a module that is about to be used.
    ///
    /// # Errors
    /// The directory cannot be read, or a file cannot be removed.
    pub async fn sweep(
        self: &Arc<Self>,
        used: HashSet<Digest>,
        before: SystemTime,
    ) -> io::Result<()> {
        let host = self.clone();
        let sweep = move || host.compiled.as_ref().map_or(Ok(()), |code| code.sweep(&used, before));
        self.in_the_background(sweep).await.map_err(io::Error::other)?
    }

    /// Gives a module what its manifest has for it. Its calls run in instances of `share`.
    ///
    /// # Errors
    /// What of the manifest does not fit the module.
    pub fn bind(
        &self,
        module: Arc<Module>,
        grant: Grant,
        limits: Limits,
        share: Share,
    ) -> Result<Resolver, BindError> {
        module::check_grant(module.descriptor(), &grant, limits)?;
        Ok(Resolver { module, grant: Arc::new(grant), limits, share })
    }

    /// Calls a resolver, in a fresh instance. Dropping the future ends the call.
    ///
    /// `request.budget_ms` is set to what the resolver's limits allow, where it is more.
    pub async fn resolve(&self, resolver: &Resolver, mut request: Request) -> Outcome {
        let slots = match self.slots(&resolver.share, SLOT_WAIT).await {
            Ok(slots) => slots,
            Err(error) => return Outcome::failed(error),
        };
        let limits = resolver.limits;
        let most = u32::try_from(limits.timeout.as_millis()).unwrap_or(u32::MAX);
        request.budget_ms = request.budget_ms.min(most);
        let now = Duration::from_millis(request.now_ms);
        let call = self.call(Some(resolver.grant.clone()), limits, now);
        let module = resolver.module.clone();
        let call = async move {
            let ended = call.resolve(&module.pre, &request).await;
            drop(slots);
            Outcome::of(ended, |answer| match answer {
                Ok(resolution) => answer::check(&module.descriptor, &request, resolution),
                Err(error) => Err(answer::failure(error)),
            })
        };
        self.in_a_task(call.boxed()).await.unwrap_or_else(Outcome::failed)
    }

    /// Has a module describe itself. No check waits for that, so it waits for an instance as long as it has to.
    async fn describe(&self, pre: GuestPre<State>, share: &Share) -> Result<Descriptor, CallError> {
        let slots = self.slots(share, COMPILE_TIMEOUT).await?;
        let limits = Limits { timeout: DESCRIBE_TIMEOUT, ..Limits::default() };
        let call = self.call(None, limits, Duration::ZERO);
        let call = async move {
            let ended = call.describe(&pre).await;
            drop(slots);
            ended.result
        };
        self.in_a_task(call.boxed()).await?
    }

    async fn compile(
        &self,
        bytes: impl AsRef<[u8]> + Send + 'static,
    ) -> Result<Component, LoadError> {
        let work = async {
            let turn = self.compiling.clone().acquire_owned().await;
            let engine = self.engine.clone();
            let job = move || {
                let compiled = module::compile(&engine, bytes.as_ref());
                // Whoever asked may have gone: the next has its turn only now.
                drop(turn);
                compiled
            };
            self.in_the_background(job).await?
        };
        match select(work.boxed(), self.runtime.sleep(COMPILE_TIMEOUT)).await {
            Either::Left((compiled, _)) => compiled,
            Either::Right(_) => Err(LoadError::Slow(COMPILE_TIMEOUT)),
        }
    }

    /// Runs what occupies a thread for longer than an asynchronous one can spare.
    async fn in_the_background<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, LoadError> {
        let (sender, receiver) = oneshot::channel();
        self.runtime.spawn_blocking(Box::new(move || {
            let _ = sender.send(job());
        }));
        receiver.await.map_err(|_| LoadError::Host)
    }

    fn call(&self, grant: Option<Arc<Grant>>, limits: Limits, now: Duration) -> Call {
        Call::new(&self.engine, self.runtime.clone(), grant, limits, now)
    }

    /// Waits, at most for so long, until there is an instance, in the share and in all.
    async fn slots(&self, share: &Share, most: Duration) -> Result<Slots, CallError> {
        let (all, share) = (self.slots.clone(), share.0.clone());
        let wait = async move {
            let share = share.acquire_owned().await?;
            Ok((share, all.acquire_owned().await?))
        };
        match select(wait.boxed(), self.runtime.sleep(most)).await {
            Either::Left((slots, _)) => slots.map_err(|_: AcquireError| CallError::Host),
            Either::Right(_) => Err(CallError::Busy(most)),
        }
    }

    /// Runs a call in a task of its own, so that a panic ends that task, until whoever asked goes away.
    async fn in_a_task<T: Send + 'static>(
        &self,
        call: BoxFuture<'static, T>,
    ) -> Result<T, CallError> {
        let (mut sender, receiver) = oneshot::channel();
        self.runtime.spawn(
            async move {
                let done = match select(call, sender.closed().boxed()).await {
                    Either::Left((done, _)) => Some(done),
                    Either::Right(_) => None,
                };
                if let Some(done) = done {
                    let _ = sender.send(done);
                }
            }
            .boxed(),
        );
        receiver.await.map_err(|_| CallError::Host)
    }
}

/// What a call holds while it runs.
type Slots = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl Outcome {
    fn of<T>(ended: Ended<T>, check: impl FnOnce(T) -> Result<Vec<Answered>, CallError>) -> Self {
        let Ended { result, log, elapsed, memory_bytes } = ended;
        Self { result: result.and_then(check), log, elapsed, memory_bytes }
    }

    fn failed(error: CallError) -> Self {
        let (log, elapsed) = (Log::default(), Duration::ZERO);
        Self { result: Err(error), log, elapsed, memory_bytes: 0 }
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("compiled", &self.compiled).finish_non_exhaustive()
    }
}

fn config(instances: u32) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances * CORE_INSTANCES)
        .total_memories(instances)
        .total_tables(instances * TABLES)
        .total_stacks(instances)
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(1)
        .max_tables_per_component(TABLES)
        .max_memory_size(MEMORY_BYTES)
        .linear_memory_keep_resident(0);
    // `pagemap_scan` stays off: in 48.0.8 a dirty page that was swapped out may survive into the next instance
    // (bytecodealliance/wasmtime#14357).
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        .epoch_interruption(true)
        .concurrency_support(false)
        .max_wasm_stack(STACK_BYTES)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .shared_memory(false)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// Moves the engine's epoch on for as long as there is an engine, in a thread that no guest can occupy.
fn start_ticker(engine: &Engine) -> io::Result<()> {
    let engine = engine.weak();
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    };
    std::thread::Builder::new().name("resolver-ticker".to_owned()).spawn(tick).map(drop)
}
