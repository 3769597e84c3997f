//! The tasks that run for as long as the service does.

use std::mem;

use parking_lot::Mutex;
use tokio::task::JoinSet;

/// The running background tasks.
#[derive(Debug, Default)]
pub struct BackgroundTasks(Mutex<JoinSet<()>>);

impl BackgroundTasks {
    /// Runs `task` until it ends or the tasks are stopped.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.lock();
        // What ended is of no use.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Ends all tasks. The database is closed only after that: a task that finds it closed would log a failure.
    pub async fn stop(&self) {
        // Taken out, so that the lock is not held while they end.
        let mut tasks = mem::take(&mut *self.0.lock());
        tasks.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn no_task_runs_after_the_stop() {
        let tasks = BackgroundTasks::default();
        let (running, ended) = oneshot::channel::<()>();
        tasks.spawn(async move {
            let _running = running;
            pending::<()>().await;
        });
        tasks.stop().await;
        assert!(ended.await.is_err(), "the task is dropped");
        assert!(tasks.0.lock().is_empty());
    }
}
