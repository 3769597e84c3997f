//! The compilations of all tenants: few at once, each tenant one after the other.

use std::sync::Arc;

use futures_util::future::FutureExt as _;
use portcullis_fairness::{Turn, TurnLimits, TurnQueue};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::compiled;
use crate::compiler::{Compiler, CompilerProcess};
use crate::environment::Runtime;
use crate::error::LoadError;
use crate::limits::{COMPILATION_QUEUE, COMPILATIONS, COMPILE_TIMEOUT};
use crate::module;
use crate::tasks;

/// Compiles modules, in turns that are fair between tenants.
pub(crate) struct Compilations {
    compiler: Compiler,
    turns: TurnQueue,
    runtime: Arc<dyn Runtime>,
}

impl Compilations {
    pub(crate) fn new(compiler: Compiler, runtime: Arc<dyn Runtime>) -> Self {
        let limits = TurnLimits {
            at_once: COMPILATIONS,
            per_tenant: 1,
            waiting: COMPILATION_QUEUE,
            ..TurnLimits::NONE
        };
        Self { compiler, turns: TurnQueue::new(limits), runtime }
    }

    /// Returns the number of tenants with modules that are compiled or wait.
    pub(crate) fn tenants(&self) -> usize {
        self.turns.tenants()
    }

    /// Compiles a module for `engine` when it is the turn of `tenant`.
    ///
    /// # Errors
    /// The module is refused, too many modules wait, or the turn or the compilation takes too long.
    pub(crate) async fn compile(
        &self,
        engine: &Engine,
        module: impl AsRef<[u8]> + Send + Sync + 'static,
        tenant: &str,
    ) -> Result<Component, LoadError> {
        let turn = self.turn(tenant).await?;
        match &self.compiler {
            Compiler::InProcess => self.compile_here(engine, module, turn).await,
            Compiler::Process(process) => {
                let code = self.compile_in(process.clone(), module, turn).await?;
                let engine = engine.clone();
                let loaded = tasks::run_blocking(&*self.runtime, move || {
                    compiled::load_compiled(&engine, &code)
                });
                loaded.await.unwrap_or(Err(LoadError::Host))
            }
        }
    }

    /// Waits for the turn of `tenant`.
    async fn turn(&self, tenant: &str) -> Result<Turn, LoadError> {
        let turn = self.in_time(self.turns.begin(tenant)).await?;
        turn.map_err(|_| LoadError::Queue)
    }

    async fn compile_here(
        &self,
        engine: &Engine,
        module: impl AsRef<[u8]> + Send + 'static,
        turn: Turn,
    ) -> Result<Component, LoadError> {
        let engine = engine.clone();
        let compiled = tasks::run_blocking(&*self.runtime, move || {
            let compiled = module::compile(&engine, module.as_ref());
            // The turn lasts as long as the job: the caller may stop waiting, but the job still runs.
            drop(turn);
            compiled
        });
        self.in_time(compiled).await?.unwrap_or(Err(LoadError::Host))
    }

    async fn compile_in(
        &self,
        process: CompilerProcess,
        module: impl AsRef<[u8]> + Send + Sync + 'static,
        turn: Turn,
    ) -> Result<Vec<u8>, LoadError> {
        let compile = async move {
            let code = process.compile(module).await;
            // The next compilation begins when this process has ended, and not before.
            drop(turn);
            code
        };
        // The process ends with its task, and the task with this future.
        let code = self.in_time(tasks::run(&*self.runtime, compile.boxed())).await?;
        code.unwrap_or(Err(LoadError::Host))
    }

    /// Returns the result of `work`, or an error if it takes too long. Time does not bound what is compiled in this process: no
    /// other tenant waits for it.
    async fn in_time<T>(&self, work: impl Future<Output = T> + Send) -> Result<T, LoadError> {
        if matches!(self.compiler, Compiler::InProcess) {
            return Ok(work.await);
        }
        let done = tasks::in_time(&*self.runtime, COMPILE_TIMEOUT, work).await;
        done.ok_or(LoadError::Slow(COMPILE_TIMEOUT))
    }
}
