//! Where resolvers run: threads of their own, so that a guest that spins delays other guests, and no decision.

use std::io;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use portcullis_resolver_host as resolver;
use tokio::runtime::{Builder, Runtime};

/// A tokio runtime that nothing but resolvers uses.
#[derive(Debug)]
pub struct OwnRuntime {
    /// There until it is dropped.
    runtime: Option<Runtime>,
    begun: Instant,
}

impl OwnRuntime {
    /// Starts its threads.
    pub fn start() -> io::Result<Self> {
        let runtime =
            Builder::new_multi_thread().thread_name("resolver").enable_all().build().map(Some)?;
        Ok(Self { runtime, begun: Instant::now() })
    }
}

impl resolver::Runtime for OwnRuntime {
    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        // The timer is that of the runtime in which the future is made, whoever waits for it.
        let _entered = self.runtime.as_ref().map(Runtime::enter);
        Box::pin(tokio::time::sleep(time))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(task);
        }
    }

    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn_blocking(job);
        }
    }
}

impl Drop for OwnRuntime {
    /// Waits for nothing: where a task drops the last resolver, waiting would be a panic.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_resolver_host::Runtime as _;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn tasks_and_jobs_run_on_threads_of_their_own() {
        let runtime = OwnRuntime::start().expect("threads");
        let (task, task_ran) = oneshot::channel();
        let (job, job_ran) = oneshot::channel();
        let name = || std::thread::current().name().map(str::to_owned);
        runtime.spawn(Box::pin(async move {
            let _ = task.send(name());
        }));
        runtime.spawn_blocking(Box::new(move || {
            let _ = job.send(name());
        }));
        assert_eq!(task_ran.await.expect("it ran").as_deref(), Some("resolver"));
        assert_eq!(job_ran.await.expect("it ran").as_deref(), Some("resolver"));
    }

    #[tokio::test]
    async fn it_sleeps_for_whoever_waits_and_is_dropped_where_others_run() {
        let runtime = OwnRuntime::start().expect("threads");
        let before = runtime.elapsed();
        runtime.sleep(Duration::from_millis(5)).await;
        assert!(runtime.elapsed() >= before + Duration::from_millis(5));
        runtime.spawn(Box::pin(std::future::pending()));
        drop(runtime);
    }
}
