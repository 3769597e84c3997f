//! The threads of resolvers. They serve nothing else, so that a guest that spins delays other guests and no decision.

use std::io;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use portcullis_resolver_host as resolver;
use tokio::runtime::{Builder, Runtime};

/// A tokio runtime that only resolvers use.
#[derive(Debug)]
pub struct ResolverThreads {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    begun: Instant,
}

impl ResolverThreads {
    /// Starts the threads.
    pub fn start() -> io::Result<Self> {
        let runtime =
            Builder::new_multi_thread().thread_name("resolver").enable_all().build().map(Some)?;
        Ok(Self { runtime, begun: Instant::now() })
    }
}

impl resolver::Runtime for ResolverThreads {
    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        // A sleep uses the timer of the runtime in which it is made. The caller may have none.
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

impl Drop for ResolverThreads {
    /// Does not wait for the tasks: a task that drops the last resolver would panic if it waited.
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
        let runtime = ResolverThreads::start().expect("threads");
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
    async fn a_sleep_lasts_and_threads_can_be_dropped_inside_a_runtime() {
        let runtime = ResolverThreads::start().expect("threads");
        let before = runtime.elapsed();
        runtime.sleep(Duration::from_millis(5)).await;
        assert!(runtime.elapsed() >= before + Duration::from_millis(5));
        runtime.spawn(Box::pin(std::future::pending()));
        drop(runtime);
    }
}
