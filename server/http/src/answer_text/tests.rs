//! Texts of answers, and their memory.

use http_body_util::BodyExt;

use super::*;
use crate::recipient::tests::Answers;

const MIB: usize = 1 << 20;

/// Writes `length` bytes as an answer to `tenant`, in parts that fit into no segment.
async fn write(answers: &Answers, tenant: &str, length: usize) -> Result<AnswerText, TextError> {
    let written = answers.to(tenant).answer(async {
        let mut text = AnswerText::default();
        for part in pattern(length).chunks(1_001) {
            text.push(part)?;
        }
        Ok(text)
    });
    written.await
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place % 251) as u8).collect()
}

#[tokio::test]
async fn the_body_is_what_was_written() {
    let answers = Answers::new(16 * MIB);
    for length in [0, 1, SHORT, UNCOUNTED, UNCOUNTED + 1, SEGMENT, SEGMENT + 1, MIB] {
        let text = write(&answers, "acme", length).await.expect("room");
        assert_eq!(text.len(), length);
        let body = text.into_body();
        assert_eq!(http_body::Body::size_hint(&body).exact(), Some(length as u64));
        assert_eq!(http_body::Body::is_end_stream(&body), length == 0);
        assert_eq!(body.collect().await.expect("a body").to_bytes(), pattern(length));
    }
    assert_eq!(answers.metrics.bytes.get(), 0);
}

#[tokio::test]
async fn a_text_can_be_cut() {
    let answers = Answers::new(16 * MIB);
    for kept in [0, 1, SEGMENT - 1, SEGMENT, SEGMENT + 1, MIB - 1] {
        let mut text = write(&answers, "acme", MIB).await.expect("room");
        text.truncate(kept);
        assert_eq!(text.len(), kept);
        answers.to("acme").answer(async { text.push(b"end") }).await.expect("room");
        let whole = text.into_body().collect().await.expect("a body").to_bytes();
        assert_eq!(whole, [&pattern(kept), &b"end"[..]].concat(), "{kept}");
    }
}

#[tokio::test]
async fn each_part_is_free_again_when_it_is_sent() {
    let answers = Answers::new(16 * MIB);
    let charged = || answers.metrics.bytes.get() as usize;
    let mut body = write(&answers, "acme", MIB).await.expect("room").into_body();
    assert_eq!(charged(), MIB - SEGMENT, "the first part is free");
    let mut sent = Vec::new();
    while let Some(frame) = body.frame().await {
        sent.push(frame.expect("a frame").into_data().expect("data"));
    }
    drop(body);
    assert_eq!(charged(), MIB - SEGMENT, "what the connection keeps is not sent");
    // A piece keeps its whole segment in memory.
    let last = sent.pop().expect("a segment");
    let piece = last.slice(..1);
    drop((sent, last));
    assert_eq!(charged(), SEGMENT);
    drop(piece);
    assert_eq!(charged(), 0);
}

#[tokio::test]
async fn a_text_without_room_ends_before_it_is_written() {
    let answers = Answers::new(4 * MIB);
    let unread = write(&answers, "greedy", MIB).await.expect("room").into_body();
    let refused = write(&answers, "greedy", MIB).await.expect_err("the share is spent");
    assert_eq!(refused, TextError::Spent);
    assert_eq!(answers.metrics.bytes.get(), (MIB - SEGMENT) as i64);
    assert_eq!(answers.metrics.refused.get(), 1);
    write(&answers, "greedy", SEGMENT).await.expect("a short text has room");
    write(&answers, "modest", MIB).await.expect("another tenant has a share of its own");
    drop(unread);
    write(&answers, "greedy", MIB).await.expect("free again");
}

#[test]
fn outside_of_a_request_there_are_only_short_texts() {
    let mut text = AnswerText::default();
    assert_eq!(text.push(&[7; UNCOUNTED]), Ok(()));
    assert_eq!(text.push(&[7]), Err(TextError::NoRecipient));
}
