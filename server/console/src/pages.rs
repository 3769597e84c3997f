//! Pages that are streamed: the frame leaves first, and the parts follow as they are ready.

use std::fmt;
use std::time::Duration;

use askama::Template;
use axum::response::Response;
use portcullis_http::answer_text::AnswerText;
use portcullis_http::error::ApiError;
use portcullis_http::page_stream::{AfterFailure, PageStream};
use portcullis_runtime::error::OperationError;
use portcullis_runtime::piece_writer::{BrokenOff, PieceWriter};

use crate::frame::{END, END_AFTER_FAILURE};
use crate::visit::Visit;

/// The terms of a page. Statistics end after five seconds, and wait for their turn before.
const TERMS: PageStream = PageStream {
    longest: Duration::from_secs(30),
    stall: Duration::from_secs(30),
    // The texts of parts are charged while they are written.
    waiting: 0,
    is_live: true,
    after_failure: AfterFailure::Say(END_AFTER_FAILURE),
};

/// Writes the parts of a page.
pub(crate) struct PageWriter(PieceWriter);

#[derive(Template)]
#[template(path = "failed.html")]
pub(crate) struct Failed {
    pub(crate) message: String,
}

impl PageWriter {
    /// Sends a part.
    pub(crate) async fn part(&mut self, part: &(impl Template + Sync)) -> Result<(), BrokenOff> {
        let mut text = AnswerText::default();
        let written = part.render_into(&mut text);
        written.map_err(|_| BrokenOff::from(OperationError::no_room_for_answer()))?;
        self.send(text).await
    }

    /// Sends what says that a part failed, in its place.
    pub(crate) async fn failed(&mut self, error: OperationError) -> Result<(), BrokenOff> {
        let error = ApiError::from(error);
        if let ApiError::Operation(OperationError::Internal(cause)) = &error {
            tracing::error!(%cause, "a part of a page failed");
        }
        self.part(&Failed { message: error.message() }).await
    }

    async fn send(&mut self, text: AnswerText) -> Result<(), BrokenOff> {
        for piece in text.into_pieces() {
            self.0.send(piece).await?;
        }
        Ok(())
    }
}

/// Answers with a page whose first part, `first`, leaves at once. `rest` writes the others.
///
/// # Errors
/// There is no memory for the answer.
pub(crate) fn stream<W>(
    visit: Visit,
    title: &str,
    first: &impl Template,
    rest: impl FnOnce(Visit, PageWriter) -> W + Send + 'static,
) -> Result<Response, ApiError>
where
    W: Future<Output = Result<PageWriter, BrokenOff>> + Send + 'static,
{
    let mut text = AnswerText::default();
    let written = visit.frame.begin(title, &mut text);
    let written = written.and_then(|()| first.render_into(&mut text).map_err(|_| fmt::Error));
    written.map_err(|fmt::Error| OperationError::no_room_for_answer())?;
    let credential = visit.credential();
    TERMS.answer(credential, move |pieces| write(text, pieces, move |pieces| rest(visit, pieces)))
}

/// Writes the frame, the parts and the end.
async fn write<W>(
    first: AnswerText,
    pieces: PieceWriter,
    rest: impl FnOnce(PageWriter) -> W,
) -> Result<(), BrokenOff>
where
    W: Future<Output = Result<PageWriter, BrokenOff>>,
{
    let mut page = PageWriter(pieces);
    page.send(first).await?;
    let mut page = rest(page).await?;
    page.0.send(END).await?;
    Ok(())
}
