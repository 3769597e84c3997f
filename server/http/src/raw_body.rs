//! Reads the body of a request, within its limits.

use axum::extract::{FromRequestParts, Request};
use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::request::Parts;
use http_body_util::BodyExt;
use portcullis_limits::{MemoryAccount, MemoryCharge};
use portcullis_runtime::error::OperationError;

use crate::body_budget::BodyBudget;
use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::handler_parameters::HandlerParameter;
use crate::large_bodies::LARGE;
use crate::lent_body::LentBody;
use crate::recipient;
use crate::request_context::RequestContext;

/// Refuses a request that declares a body that is too large. Every route checks this first: an unknown route or method
/// comes before it in the order of faults, and only the router knows these.
pub(crate) fn refuse_oversize(parts: &Parts) -> Result<(), ApiError> {
    let most = RequestContext::find(&parts.extensions)?.max_body(&parts.headers);
    match declared_length(&parts.headers) {
        Some(length) if length > most as u64 => Err(ApiError::PayloadTooLarge(most)),
        // A body without a declared length is measured while it is read.
        _ => Ok(()),
    }
}

/// Refuses a body that is compressed: what it takes in memory would not be known before it is read.
fn refuse_encoded(headers: &HeaderMap) -> Result<(), ApiError> {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    match codings.find(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        Some(coding) => {
            Err(ApiError::EncodedBody(String::from_utf8_lossy(coding.as_bytes()).into_owned()))
        }
        None => Ok(()),
    }
}

impl HandlerParameter for Deadline {}

impl<S: Send + Sync> FromRequestParts<S> for Deadline {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(RequestContext::find(&parts.extensions)?.deadline)
    }
}

/// A body that is not read yet. An extractor of a body runs after the extractors of the caller, so that nobody without
/// the right makes the service read.
pub(crate) struct UnreadBody {
    body: LentBody,
    /// Most bytes of the body.
    most: usize,
    /// The length that the request declares.
    declared: Option<u64>,
    budget: BodyBudget,
    deadline: Deadline,
}

impl UnreadBody {
    /// Returns the body of `request`.
    pub(crate) fn from_request(mut request: Request) -> Result<Self, ApiError> {
        refuse_encoded(request.headers())?;
        let context = RequestContext::take(request.extensions_mut())?;
        let most = context.max_body(request.headers());
        let declared = declared_length(request.headers());
        let RequestContext { body, budget, deadline, .. } = context;
        Ok(Self { body, most, declared, budget, deadline })
    }

    /// Returns the deadline of the request.
    pub(crate) fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Reads the body to its end. The bytes are charged until they are dropped. A large body waits for its turn: what the
    /// request does with it then runs beside the threads of other requests.
    ///
    /// # Errors
    /// The body is too large, ends too early or takes too long, the memory for bodies is spent, or too many large bodies of
    /// the tenant wait.
    pub(crate) async fn read(mut self) -> Result<ReadBody, ApiError> {
        // Without a recipient the bytes count for the account of the operator.
        let account = recipient::account().unwrap_or_else(|| MemoryAccount::for_tenant(""));
        let deadline = self.deadline;
        let read = async {
            let read = self.read_all(account).await?;
            if read.kept.len() > LARGE {
                // In a box, so that a check has no room for its state.
                Box::pin(self.budget.take_turn(account)).await?;
            }
            Ok(read)
        };
        deadline.bound(read).await.unwrap_or_else(|| {
            let what = "the body took too long, and nothing was written; try again later";
            Err(OperationError::NotNow(what.to_owned()).into())
        })
    }

    async fn read_all(&mut self, account: MemoryAccount) -> Result<ReadBody, ApiError> {
        let declared = self.declared.and_then(|length| length.try_into().ok());
        let mut charge = self.budget.charge(account);
        let mut kept = Vec::new();
        while let Some(frame) = self.body.frame().await {
            let Ok(frame) = frame else {
                return Err(ApiError::bad_request("the body ended too early"));
            };
            // Trailers are ignored.
            let Ok(data) = frame.into_data() else { continue };
            let length = kept.len() + data.len();
            if length > self.most {
                return Err(ApiError::PayloadTooLarge(self.most));
            }
            if length > kept.capacity() {
                // Twice the length, so that few bytes are copied again, but no more than the body can need.
                let most = declared.unwrap_or(self.most);
                let capacity = (2 * kept.len()).min(most).max(length);
                // Charged before it is allocated.
                charge.grow_to(capacity).map_err(|_| too_many())?;
                kept.reserve_exact(capacity - kept.len());
            }
            kept.extend_from_slice(&data);
        }
        Ok(ReadBody { kept, charge })
    }
}

fn too_many() -> ApiError {
    let what = "request bodies take too much memory at the moment; try again later";
    OperationError::NotNow(what.to_owned()).into()
}

/// Returns the length that a request declares.
fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Bytes that an item of a batch takes while it is decided: what was read of it, and its decision.
const ITEM: usize = 384;

/// A body that was read. It holds its charge.
pub(crate) struct ReadBody {
    pub(crate) kept: Vec<u8>,
    pub(crate) charge: MemoryCharge,
}

impl ReadBody {
    /// Returns the bytes, which are charged until the last copy of them is dropped.
    pub(crate) fn into_bytes(self) -> Bytes {
        if self.kept.is_empty() { Bytes::new() } else { Bytes::from_owner(self) }
    }
}

impl ReadBody {
    /// Charges the items that were read of the body. An item of two bytes takes much more.
    ///
    /// # Errors
    /// The memory for bodies is spent.
    pub(crate) fn charge_items(&self, items: usize) -> Result<MemoryCharge, ApiError> {
        self.charge.beside(items * ITEM).map_err(|_| too_many())
    }
}

impl AsRef<[u8]> for ReadBody {
    fn as_ref(&self) -> &[u8] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Body;
    use axum::response::IntoResponse;
    use futures_util::stream;
    use portcullis_limits::MemoryMetrics;

    use super::*;
    use crate::large_bodies::beside_when_large;
    use crate::recipient::tests::Answers;

    const MIB: usize = 1 << 20;

    fn account(tenant: &str) -> MemoryAccount {
        MemoryAccount::for_tenant(tenant)
    }

    /// A body that comes in pieces of 1 MiB.
    fn body(budget: &BodyBudget, pieces: usize, is_declared: bool) -> UnreadBody {
        let declared = is_declared.then_some((pieces * MIB) as u64);
        let pieces = (0..pieces).map(|_| Ok::<_, axum::Error>(vec![b'x'; MIB]));
        let body = LentBody::new(Body::from_stream(stream::iter(pieces)));
        let (budget, deadline) = (budget.clone(), Deadline::from_now());
        UnreadBody { body, most: 16 * MIB, declared, budget, deadline }
    }

    async fn read(body: UnreadBody) -> Result<Bytes, u16> {
        let read = body.read().await;
        read.map(ReadBody::into_bytes).map_err(|error| error.into_response().status().as_u16())
    }

    #[tokio::test]
    async fn memory_is_charged_until_the_bytes_are_gone() {
        let metrics = MemoryMetrics::default();
        let budget = BodyBudget::new(64 * MIB as u64, 0, metrics.clone());
        for (declared, charged) in [(true, 5), (false, 8)] {
            let bytes = read(body(&budget, 5, declared)).await.expect("a body");
            assert_eq!(bytes.len(), 5 * MIB);
            assert_eq!(metrics.bytes.get(), charged * MIB as i64);
            let part = bytes.slice(..1);
            drop(bytes);
            assert_eq!(metrics.bytes.get(), charged * MIB as i64);
            drop(part);
            assert_eq!(metrics.bytes.get(), 0);
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_request_computes_with_a_large_body_beside_the_thread_of_others() {
        let budget = BodyBudget::new(64 * MIB as u64, 0, MemoryMetrics::default());
        let body = body(&budget, 1, true);
        let handler = async move {
            let body = read(body).await.expect("a body");
            // It holds its thread until another task of the only thread has run.
            let (ran, has_run) = std::sync::mpsc::channel();
            tokio::spawn(async move { ran.send(body.len()) });
            has_run.recv_timeout(Duration::from_secs(10))
        };
        let computed = tokio::spawn(beside_when_large(handler)).await.expect("no panic");
        assert_eq!(computed, Ok(MIB), "the thread served no other task");
    }

    #[tokio::test]
    async fn a_body_that_has_no_room_is_a_503() {
        let metrics = MemoryMetrics::default();
        let budget = BodyBudget::new(64 * MIB as u64, 0, metrics.clone());
        let held = [
            read(body(&budget, 16, true)).await.expect("a body"),
            read(body(&budget, 16, true)).await.expect("a body"),
        ];
        assert_eq!(read(body(&budget, 3, true)).await, Err(503));
        let is_other = |tenant: &String| account(tenant) != account("");
        let other = (0..).map(|number: u32| number.to_string()).find(is_other).expect("an account");
        let answers = Answers::new(1 << 30);
        let of_another = answers.to(&other).answer(read(body(&budget, 3, true))).await;
        assert_eq!(of_another.expect("the share of another tenant").len(), 3 * MIB);
        drop(held);
        assert_eq!(read(body(&budget, 16, true)).await.expect("free again").len(), 16 * MIB);
        assert_eq!(read(body(&budget, 17, false)).await, Err(413));
        assert_eq!(metrics.bytes.get(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_given_up() {
        let metrics = MemoryMetrics::default();
        let budget = BodyBudget::new(64 * MIB as u64, 0, metrics.clone());
        let (mut body, begun) = (body(&budget, 1, true), tokio::time::Instant::now());
        let first = stream::iter([Ok::<_, axum::Error>(vec![b'x'; 10])]);
        let unfinished = futures_util::StreamExt::chain(first, stream::pending());
        body.body = LentBody::new(Body::from_stream(unfinished));
        assert_eq!(read(body).await, Err(503));
        assert!(begun.elapsed() < crate::deadline::REQUEST_TIMEOUT);
        assert_eq!(metrics.bytes.get(), 0);
    }
}
