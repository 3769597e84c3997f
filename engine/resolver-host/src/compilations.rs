//! The compilations of all tenants: few at once, each tenant one after the other.

use std::sync::Arc;

use futures_util::future::FutureExt as _;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::compiled;
use crate::compiler::{Compiler, CompilerProcess};
use crate::environment::Runtime;
use crate::error::LoadError;
use crate::limits::{COMPILATION_QUEUE, COMPILATIONS, COMPILE_TIMEOUT};
use crate::module;
use crate::share::InstanceShare;
use crate::tasks;

/// Compiles modules, in turns that are fair between tenants.
pub(crate) struct Compilations {
    compiler: Compiler,
    /// The permits of compilations. Whoever asks first compiles first, and each tenant asks for one at a time.
    running: Arc<Semaphore>,
    /// The places of compilations that wait.
    waiting: Arc<Semaphore>,
    runtime: Arc<dyn Runtime>,
}

/// The turn of a tenant at the compiler: its own permit, and one of all.
type Turn = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl Compilations {
    pub(crate) fn new(compiler: Compiler, runtime: Arc<dyn Runtime>) -> Self {
        Self {
            compiler,
            running: Arc::new(Semaphore::new(COMPILATIONS)),
            waiting: Arc::new(Semaphore::new(COMPILATION_QUEUE)),
            runtime,
        }
    }

    /// Compiles a module for `engine` when it is the turn of `share`.
    ///
    /// # Errors
    /// The module is refused, too many modules wait, or the turn or the compilation takes too long.
    pub(crate) async fn compile(
        &self,
        engine: &Engine,
        module: impl AsRef<[u8]> + Send + Sync + 'static,
        share: &InstanceShare,
    ) -> Result<Component, LoadError> {
        let turn = self.turn(share).await?;
        match &self.compiler {
            Compiler::InProcess => self.compile_here(engine, module, turn).await,
            Compiler::Process(process) => {
                let code = self.compile_in(process.clone(), module, turn).await?;
                let engine = engine.clone();
                let load = move || compiled::load_compiled(&engine, &code);
                tasks::run_blocking(&*self.runtime, load).await.unwrap_or(Err(LoadError::Host))
            }
        }
    }

    /// Waits for the turn of `share`.
    async fn turn(&self, share: &InstanceShare) -> Result<Turn, LoadError> {
        let place = self.waiting.clone().try_acquire_owned().map_err(|_| LoadError::Queue)?;
        let (own, all) = (share.compiling.clone(), self.running.clone());
        let wait = async move {
            // The own permit comes first: a tenant with many modules has one place in the line of all tenants.
            let own = own.acquire_owned().await?;
            Ok((own, all.acquire_owned().await?))
        };
        let turn = self.in_time(wait).await?;
        drop(place);
        turn.map_err(|_: AcquireError| LoadError::Host)
    }

    async fn compile_here(
        &self,
        engine: &Engine,
        module: impl AsRef<[u8]> + Send + 'static,
        turn: Turn,
    ) -> Result<Component, LoadError> {
        let engine = engine.clone();
        let compile = move || {
            let compiled = module::compile(&engine, module.as_ref());
            // The turn lasts as long as the job: the caller may stop waiting, but the job still runs.
            drop(turn);
            compiled
        };
        let compiled = self.in_time(tasks::run_blocking(&*self.runtime, compile)).await?;
        compiled.unwrap_or(Err(LoadError::Host))
    }

    async fn compile_in(
        &self,
        process: CompilerProcess,
        module: impl AsRef<[u8]> + Send + Sync + 'static,
        turn: Turn,
    ) -> Result<Vec<u8>, LoadError> {
        let compile = async move {
            let code = process.compile(module).await;
            drop(turn);
            code
        };
        // The process ends with its task, and the task with this future.
        let code = self.in_time(tasks::run(&*self.runtime, compile.boxed())).await?;
        code.unwrap_or(Err(LoadError::Host))
    }

    /// Returns the result of `work`, or an error if it takes too long.
    async fn in_time<T>(&self, work: impl Future<Output = T> + Send) -> Result<T, LoadError> {
        let done = tasks::in_time(&*self.runtime, COMPILE_TIMEOUT, work).await;
        done.ok_or(LoadError::Slow(COMPILE_TIMEOUT))
    }
}
