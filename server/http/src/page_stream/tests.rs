//! Streamed answers whose client goes away, takes nothing or loses its right, and work that fails.

use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::BodyExt;
use portcullis_model::audit::ADMIN_ACTOR;
use portcullis_model::role::NewRole;
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use portcullis_storage::{Store, roles};
use tokio::sync::oneshot;

use super::*;
use crate::recipient::tests::Answers;

on_every_database!(work_commits_without_its_client);

const WORD: &str = "<p>The page broke off.</p>";

fn terms() -> PageStream {
    PageStream {
        longest: Duration::from_secs(60),
        stall: Duration::from_secs(10),
        waiting: 100_000,
        is_live: false,
        after_failure: AfterFailure::Say(WORD),
    }
}

/// Begins an answer whose credential holds as long as `holds` is true.
fn begun<W>(
    terms: PageStream,
    holds: &Arc<AtomicBool>,
    work: impl FnOnce(PieceWriter) -> W,
) -> Response
where
    W: Future<Output = Result<(), BrokenOff>> + Send + 'static,
{
    let holds = Arc::clone(holds);
    let verify = move || std::future::ready(holds.load(Ordering::Relaxed)).boxed();
    terms.begin(Box::new(verify), work).expect("there is memory")
}

fn valid() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(true))
}

/// Returns the whole text; `None` if the connection ends before.
async fn text(answer: Response) -> Option<String> {
    let whole = answer.into_body().collect().await.ok()?;
    Some(String::from_utf8(whole.to_bytes().to_vec()).expect("UTF-8"))
}

async fn role_names(store: &Store) -> Vec<String> {
    let mut tx = store.begin_read("acme").await.expect("begins");
    let all = roles::all(&mut tx).await.expect("works");
    all.into_iter().map(|role| role.name).collect()
}

async fn work_commits_without_its_client(database: TestDatabase) {
    let store = database.open().await;
    let (told, outcome) = oneshot::channel();
    let writer = store.clone();
    let answer = begun(terms(), &valid(), |mut pieces| async move {
        let mut tx = writer.write("acme", 0).await.expect("begins");
        let by = Authorship { actor: ADMIN_ACTOR.to_owned(), at: Timestamp::from_millis(1) };
        let role = NewRole { name: "nurse".to_owned(), includes: vec!["staff".to_owned()] };
        roles::store(&mut tx, &role.into_record(&by)).await.expect("works");
        pieces.send("in a transaction").await?;
        // The client is gone: the transaction ends all the same.
        let reason = pieces.stopped().await;
        tx.commit().await.expect("commits");
        let refused = pieces.send("more").await;
        told.send((reason, refused)).expect("the test waits");
        Ok(())
    });
    let mut body = answer.into_body();
    assert!(body.frame().await.is_some_and(|frame| frame.is_ok()));
    drop(body);
    assert_eq!(outcome.await, Ok((Stop::Gone, Err(Stop::Gone))));
    assert_eq!(role_names(&store).await, ["nurse"]);
}

/// Begins an answer whose second section panics.
fn panicking(after_failure: AfterFailure) -> Response {
    begun(PageStream { after_failure, ..terms() }, &valid(), |mut pieces| async move {
        pieces.send("<h1>First</h1>").await?;
        assert!(pieces.send("").await.is_err(), "the second section");
        Ok(())
    })
}

#[tokio::test]
async fn a_panic_ends_with_a_word_or_with_the_connection() {
    let said = text(panicking(AfterFailure::Say(WORD))).await;
    assert_eq!(said, Some(format!("<h1>First</h1>{WORD}")));
    assert_eq!(text(panicking(AfterFailure::Disconnect)).await, None);
}

#[tokio::test]
async fn a_whole_answer_has_no_word() {
    let answer = begun(terms(), &valid(), |mut pieces| async move {
        for section in ["a", "b", "c"] {
            pieces.send(section).await?;
        }
        Ok(())
    });
    assert_eq!(text(answer).await.as_deref(), Some("abc"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_reads_ends_and_gives_its_memory_back() {
    let answers = Answers::new(1 << 20);
    let (told, outcome) = oneshot::channel();
    let began = Instant::now();
    let answer = answers.to("acme").answer(async {
        begun(terms(), &valid(), |mut pieces| async move {
            let mut sent = 0;
            let reason = loop {
                match pieces.send("piece").await {
                    Ok(()) => sent += 1,
                    Err(reason) => break reason,
                }
            };
            told.send((sent, reason)).expect("the test waits");
            Err(reason.into())
        })
    });
    let answer = answer.await;
    assert!(answers.metrics.bytes.get() > 0, "what waits is charged");
    assert_eq!(outcome.await, Ok((1, Stop::TooSlow)));
    assert_eq!(began.elapsed(), terms().stall);
    drop(answer);
    assert_eq!(answers.metrics.bytes.get(), 0);
    let full = Answers::new(1).to("acme").answer(async {
        let verify: Verify = Box::new(|| std::future::ready(true).boxed());
        terms().begin(verify, |_| async { Ok(()) }).is_err()
    });
    assert!(full.await, "there is no memory for what waits");
}

#[tokio::test(start_paused = true)]
async fn an_answer_ends_with_its_credential_and_with_its_time() {
    for (expected, after) in [(Stop::Revoked, VERIFY), (Stop::TimeIsOver, terms().longest)] {
        let (told, outcome) = oneshot::channel();
        let (holds, began) = (valid(), Instant::now());
        let answer = begun(terms(), &holds, |mut pieces| async move {
            pieces.send("first").await?;
            let reason = pieces.stopped().await;
            told.send(reason).expect("the test waits");
            Ok(pieces.send("a secret").await?)
        });
        holds.store(expected != Stop::Revoked, Ordering::Relaxed);
        assert_eq!(text(answer).await, Some(format!("first{WORD}")));
        assert_eq!((outcome.await, began.elapsed()), (Ok(expected), after));
    }
}

#[tokio::test]
async fn the_work_runs_for_the_recipient_of_the_request() {
    let answers = Answers::new(1 << 20);
    let recipient = answers.to("acme");
    let account = recipient.account();
    let answer = recipient.answer(async {
        begun(terms(), &valid(), move |mut pieces| async move {
            let same = crate::recipient::account() == Some(account);
            Ok(pieces.send(same.to_string()).await?)
        })
    });
    assert_eq!(text(answer.await).await.as_deref(), Some("true"));
}
