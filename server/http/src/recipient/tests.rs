//! The memory of answers, of connections and tenants.

use portcullis_limits::MemoryMetrics;

use super::*;

/// A service with memory for answers, and what is charged.
pub(crate) struct Answers {
    budget: MemoryBudget,
    pub(crate) metrics: MemoryMetrics,
}

impl Answers {
    pub(crate) fn new(most: usize) -> Self {
        let metrics = MemoryMetrics::default();
        Self { budget: MemoryBudget::new(most as u64, 0, metrics.clone()), metrics }
    }

    /// Returns the recipient of an answer to `tenant` on a connection of its own.
    pub(crate) fn to(&self, tenant: &str) -> Recipient {
        let connection = ConnectionAnswers::new(self.budget.clone());
        Recipient::new(connection, MemoryAccount::for_tenant(tenant))
    }
}

/// Runs `work` as a part of a request, with plenty of memory.
pub(crate) async fn in_request<T>(work: impl FnOnce() -> T) -> T {
    Answers::new(1 << 30).to("acme").answer(async { work() }).await
}

#[test]
fn a_connection_has_bytes_without_a_charge() {
    let answers = Answers::new(1 << 20);
    let recipient = answers.to("acme");
    let mut first = recipient.clone().hold();
    assert_eq!(first.grow_to(FREE - 10), Ok(()));
    let mut second = recipient.clone().hold();
    assert_eq!(second.grow_to(10), Ok(()));
    assert_eq!(answers.metrics.bytes.get(), 0);
    assert_eq!(second.grow_to(110), Ok(()));
    assert_eq!(answers.metrics.bytes.get(), 100);
    let mut of_another_connection = answers.to("acme").hold();
    assert_eq!(of_another_connection.grow_to(FREE), Ok(()));
    assert_eq!(answers.metrics.bytes.get(), 100);
    drop((first, second));
    assert_eq!(answers.metrics.bytes.get(), 0);
    assert_eq!(recipient.connection.free.load(Ordering::Relaxed), 0);
}

#[test]
fn a_tenant_has_a_quarter() {
    let answers = Answers::new(4 * FREE);
    let mut greedy = answers.to("greedy").hold();
    assert_eq!(greedy.grow_to(2 * FREE), Err(Spent), "at once");
    let other = ["a", "b"].map(|name| answers.to(name));
    let other = other.iter().find(|one| one.account() != answers.to("greedy").account());
    let recipient = answers.to("greedy");
    let mut holds = [recipient.clone().hold(), recipient.hold()];
    assert_eq!(holds.each_mut().map(|hold| hold.grow_to(FREE)), [Ok(()), Ok(())]);
    assert_eq!(answers.to("greedy").hold().grow_to(FREE + 1), Err(Spent));
    let mut modest = other.expect("another account").clone().hold();
    assert_eq!(modest.grow_to(FREE), Ok(()));
    assert_eq!(modest.grow_to(FREE + 1), Ok(()));
}

#[tokio::test]
async fn a_write_is_refused_before_it_begins_or_answered() {
    let answers = Answers::new(4 * FREE);
    let begin = || async { begin_write().is_ok() };
    let recipient = answers.to("acme");
    let mut read = recipient.clone().hold();
    assert_eq!(read.grow_to(3 * FREE), Err(Spent));
    let written = recipient.answer(async {
        assert!(begin().await);
        let mut hold = Recipient::current().expect("a request").hold();
        hold.grow_to(8 * FREE).map(|()| hold)
    });
    let written = written.await.expect("it is answered although there is no room");
    assert_eq!(answers.metrics.bytes.get(), 8 * FREE as i64);
    assert!(!answers.to("acme").answer(begin()).await);
    drop(written);
    assert!(answers.to("acme").answer(begin()).await);
}

#[tokio::test]
async fn another_thread_has_the_recipient_too() {
    let answers = Answers::new(1 << 20);
    let work = answers.to("acme").answer(async { carried(|()| async { Recipient::current() }) });
    let work = work.await;
    assert!(Recipient::current().is_none());
    let found = std::thread::spawn(|| futures_util::FutureExt::now_or_never(work(()))).join();
    let found = found.expect("a thread").flatten().expect("a recipient");
    assert_eq!(found.account(), MemoryAccount::for_tenant("acme"));
}
