//! The scans of the record of decisions that run and wait.

use crate::error::OperationError;
use crate::searches::{Awaited, Searches};
use crate::turns::WorkQueue;

/// The scans of the record of decisions, in which members leave turns to managers: of the scans of a tenant at most one is a
/// member's, and the others of members wait beside.
#[derive(Debug)]
pub struct RecordScans {
    /// The scans of tenants.
    all: Searches,
    /// The scans of each member.
    of_member: WorkQueue,
    /// The scans of the members of each tenant, one of each member.
    of_members: WorkQueue,
}

impl Default for RecordScans {
    fn default() -> Self {
        Self {
            all: Searches::for_records(),
            of_member: WorkQueue::for_scans_of_member(),
            of_members: WorkQueue::for_scans_of_members(),
        }
    }
}

impl RecordScans {
    /// Runs a scan of `tenant`, for `member` if the caller is not a manager, as [`Searches::run`] does.
    ///
    /// # Errors
    /// An error of the scan; too many scans of the member or the tenant wait, or the process stops.
    pub async fn run<T, F>(
        &self,
        (tenant, member): (&str, Option<&str>),
        scan: impl FnOnce(Awaited) -> F + Send + 'static,
    ) -> Result<T, OperationError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, OperationError>>,
    {
        let mut turns = None;
        if let Some(member) = member {
            // The length of the tenant's id keeps pairs apart whose joined texts are the same.
            // First the turn of the member, so that only one scan of each member waits among those of all members.
            let own = self.of_member.begin(&format!("{}:{tenant}{member}", tenant.len())).await?;
            turns = Some((own, self.of_members.begin(tenant).await?));
        }
        let scanned = self.all.run(tenant, move |awaited| async move {
            // They end with the scan, also if the caller is gone before.
            let _turns = turns;
            scan(awaited).await
        });
        scanned.await
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;

    use tokio::sync::{mpsc, watch};

    use super::*;

    /// A scan that says who it is for when it begins, and ends when it is told to.
    fn scan(
        scans: &Arc<RecordScans>,
        member: Option<&'static str>,
        (begun, end): (&mpsc::UnboundedSender<Option<&'static str>>, &watch::Receiver<bool>),
    ) -> Pin<Box<dyn Future<Output = Result<(), OperationError>> + Send>> {
        let (scans, begun, mut end) = (Arc::clone(scans), begun.clone(), end.clone());
        Box::pin(async move {
            let work = move |_: Awaited| async move {
                begun.send(member).expect("the test waits");
                end.wait_for(|ends| *ends).await.expect("the test ends it");
                Ok(())
            };
            scans.run(("acme", member), work).await
        })
    }

    #[tokio::test]
    async fn a_manager_waits_for_one_scan_of_members_at_most() {
        let scans = Arc::new(RecordScans::default());
        let (begun, mut begins) = mpsc::unbounded_channel();
        let (end, ends) = watch::channel(false);
        let ask = |member| tokio::spawn(scan(&scans, member, (&begun, &ends)));
        let first = ask(Some("ann"));
        assert_eq!(begins.recv().await, Some(Some("ann")));
        let mut waiting: Vec<_> = (0..3).map(|_| ask(Some("ann"))).collect();
        waiting.push(ask(Some("bob")));
        while scans.of_members.tenants() == 0 || scans.of_member.tenants() < 2 {
            tokio::task::yield_now().await;
        }
        tokio::task::yield_now().await;
        let refused = scan(&scans, Some("ann"), (&begun, &ends)).await;
        assert!(matches!(refused, Err(OperationError::NotNow(_))), "one runs and three wait");
        let manager = ask(None);
        // It is in the line of the tenant before the next scan of a member.
        tokio::task::yield_now().await;
        end.send(true).expect("they wait");
        let mut order = Vec::new();
        for _ in 0..5 {
            order.push(begins.recv().await.expect("one begins"));
        }
        let place = order.iter().position(Option::is_none);
        assert!(place.is_some_and(|place| place < 2), "{order:?}");
        for one in waiting.into_iter().chain([first, manager]) {
            one.await.expect("runs").expect("has its turn");
        }
    }
}
