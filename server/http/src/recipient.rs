//! The recipient of an answer: the connection that takes it, and the tenant or the address that its memory is charged to
//! (`docs/semantics.md`, section 8.9).

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::Either;
use portcullis_limits::{MemoryAccount, MemoryBudget, MemoryCharge, Spent};
use tokio::task::futures::TaskLocalFuture;

/// Bytes of unsent answers that each connection has without a charge, so that small answers cost no shared counter.
pub const FREE: usize = 64 * 1024;

tokio::task_local! {
    /// The recipient of the answer to the request that runs. What writes an answer is too far from the request to be given
    /// it: axum turns the value of a handler into a response by the value alone.
    static RECIPIENT: Recipient;
}

/// The answers of a connection that are not sent yet.
#[derive(Debug)]
pub struct ConnectionAnswers {
    budget: MemoryBudget,
    /// The bytes without a charge.
    free: AtomicUsize,
}

impl ConnectionAnswers {
    /// Returns the answers of a connection that begins.
    pub fn new(budget: MemoryBudget) -> Arc<Self> {
        Arc::new(Self { budget, free: AtomicUsize::new(0) })
    }

    /// Takes bytes that need no charge. Returns whether enough of them are left.
    fn take_free(&self, bytes: usize) -> bool {
        // Added before it is compared, so that two answers never take the same bytes.
        let taken = self.free.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= FREE;
        if !taken {
            self.free.fetch_sub(bytes, Ordering::Relaxed);
        }
        taken
    }
}

/// The recipient of an answer.
#[derive(Clone, Debug)]
pub struct Recipient {
    connection: Arc<ConnectionAnswers>,
    account: Cell<MemoryAccount>,
    /// Whether the request may have written by the time of its answer, so that the answer cannot be refused.
    has_begun_write: Cell<bool>,
}

impl Recipient {
    /// Returns the recipient of an answer that is charged to `account` until the sender of the request is known.
    pub fn new(connection: Arc<ConnectionAnswers>, account: MemoryAccount) -> Self {
        Self { connection, account: Cell::new(account), has_begun_write: Cell::new(false) }
    }

    /// Returns the account that the memory of the request is charged to.
    pub fn account(&self) -> MemoryAccount {
        self.account.get()
    }

    /// Returns the recipient of the request that runs; `None` outside of a request.
    pub fn current() -> Option<Self> {
        RECIPIENT.try_with(Clone::clone).ok()
    }

    /// Answers a request for this recipient.
    pub fn answer<F: Future>(self, request: F) -> impl Future<Output = F::Output> {
        RECIPIENT.scope(self, request)
    }

    /// Returns a hold of no memory.
    pub fn hold(self) -> Hold {
        Hold { recipient: self, free: 0, charge: None }
    }
}

/// Returns `work` of the request that runs, for another task or thread.
pub fn carried<A, F: Future>(
    work: impl FnOnce(A) -> F,
) -> impl FnOnce(A) -> Either<F, TaskLocalFuture<Recipient, F>> {
    let recipient = Recipient::current();
    move |argument| match recipient {
        Some(recipient) => Either::Right(RECIPIENT.scope(recipient, work(argument))),
        None => Either::Left(work(argument)),
    }
}

/// Returns the account of the request that runs; `None` outside of a request.
pub fn account() -> Option<MemoryAccount> {
    RECIPIENT.try_with(Recipient::account).ok()
}

/// Charges body and answer of the request that runs to `account`, the one of its sender. Does nothing outside of a request.
pub fn charge_to(account: MemoryAccount) {
    let _ = RECIPIENT.try_with(|recipient| recipient.account.set(account));
}

/// Begins a request that may write. Its answer is never refused: the client of a 503 may take it that nothing was written.
///
/// # Errors
/// The memory for answers is spent already.
pub fn begin_write() -> Result<(), Spent> {
    let begun = RECIPIENT.try_with(|recipient| {
        recipient.has_begun_write.set(true);
        recipient.connection.budget.must_have_room(recipient.account())
    });
    begun.unwrap_or(Ok(()))
}

/// The memory of a part of an answer. It is free again when the hold is dropped.
#[derive(Debug)]
pub struct Hold {
    recipient: Recipient,
    free: usize,
    charge: Option<MemoryCharge>,
}

impl Hold {
    /// Raises the hold to `bytes`: without a charge while the connection has such bytes, then charged.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), Spent> {
        let Self { recipient, free, charge } = self;
        let charged = charge.as_ref().map_or(0, MemoryCharge::bytes);
        let more = bytes.saturating_sub(*free + charged);
        if recipient.connection.take_free(more) {
            *free += more;
            return Ok(());
        }
        // Asked at each growth: the address pays until the sender is known, and then the tenant.
        let account = recipient.account();
        let charge = charge.get_or_insert_with(|| recipient.connection.budget.charge(account));
        if recipient.has_begun_write.get() {
            charge.overdraw_to(charged + more);
            return Ok(());
        }
        charge.grow_to(charged + more)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // The charge gives its own bytes back.
        self.recipient.connection.free.fetch_sub(self.free, Ordering::Relaxed);
    }
}

#[cfg(test)]
pub(crate) mod tests;
