//! Files of comma-separated values (RFC 4180), which are written page by page.

use std::fmt::Write;
use std::time::Duration;

use axum::response::Response;
use futures_util::future::BoxFuture;
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use portcullis_http::answer_text::AnswerText;
use portcullis_http::error::ApiError;
use portcullis_http::page_stream::{AfterFailure, PageStream};
use portcullis_runtime::error::OperationError;
use portcullis_runtime::piece_writer::{BrokenOff, PieceWriter};

use crate::visit::Visit;

const COMPLETE: &str = "# complete\r\n";
/// The last line of a file that broke off.
const BROKEN_OFF: &str = "# incomplete: the file broke off, ask for it again\r\n";
const TERMS: PageStream = PageStream {
    longest: Duration::from_secs(60),
    stall: Duration::from_secs(30),
    // Rows are charged while they are written.
    waiting: 0,
    is_live: true,
    after_failure: AfterFailure::Say(BROKEN_OFF),
};

/// A page of rows.
pub(crate) struct CsvPage {
    pub(crate) rows: Vec<Vec<String>>,
    /// The place of the next page; `None` after the last.
    pub(crate) next: Option<String>,
    /// The revision that decided.
    pub(crate) revision: u64,
}

/// Reads the page at a cursor.
pub(crate) type ReadPage =
    for<'v> fn(&'v Visit, Option<String>) -> BoxFuture<'v, Result<CsvPage, ApiError>>;

/// Answers with the file `name`, whose columns `header` names and whose pages `read` reads.
///
/// # Errors
/// The first page cannot be read.
pub(crate) async fn download(
    visit: Visit,
    name: &str,
    header: &[&str],
    read: ReadPage,
) -> Result<Response, ApiError> {
    // Before the answer begins, so that a fault has a status of its own.
    let first = read(&visit, None).await?;
    let mut text = AnswerText::default();
    let columns = header.iter().map(|&name| name.to_owned()).collect();
    add_rows(&mut text, &[columns])?;
    let credential = visit.credential();
    let mut answer = TERMS.answer(credential, move |mut pieces| async move {
        let end = write(&visit, read, (text, first), &mut pieces).await?;
        pieces.send(end).await?;
        Ok(())
    })?;
    let attachment = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    let attachment = attachment.map_err(|error| OperationError::Internal(error.into()))?;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    headers.insert(CONTENT_DISPOSITION, attachment);
    Ok(answer)
}

/// Writes the pages, and returns the last line.
async fn write(
    visit: &Visit,
    read: ReadPage,
    (mut text, mut page): (AnswerText, CsvPage),
    pieces: &mut PieceWriter,
) -> Result<String, BrokenOff> {
    let (first, mut rules_changed) = (page.revision, false);
    loop {
        add_rows(&mut text, &page.rows)?;
        for piece in std::mem::take(&mut text).into_pieces() {
            pieces.send(piece).await?;
        }
        // Each page is decided by the rules that are in force when it is read.
        rules_changed |= page.revision != first;
        let Some(cursor) = page.next else { break };
        page = match read(visit, Some(cursor)).await {
            Ok(page) => page,
            Err(error) => return Ok(incomplete(&error.message())),
        };
    }
    Ok(match rules_changed {
        true => incomplete("the rules changed while it was written"),
        false => COMPLETE.to_owned(),
    })
}

fn incomplete(why: &str) -> String {
    format!("# incomplete: {}\r\n", why.replace(['\r', '\n'], " "))
}

fn add_rows(text: &mut AnswerText, rows: &[Vec<String>]) -> Result<(), OperationError> {
    for row in rows {
        text.write_str(&line(row)).map_err(|_| OperationError::no_room_for_answer())?;
    }
    Ok(())
}

/// Returns a line with these cells.
fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    format!("{}\r\n", cells.join(","))
}

/// Returns a cell, which no program takes for a formula.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_formulas() {
        for (text, expected) in [
            ("ann", "ann"),
            ("a,b", "\"a,b\""),
            ("say \"no\"", "\"say \"\"no\"\"\""),
            ("a\nb", "\"a\nb\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@sum", "'@sum"),
            ("\tx", "'\tx"),
            ("\r=1", "\"'\r=1\""),
            ("a=1", "a=1"),
        ] {
            assert_eq!(cell(text), expected, "{text:?}");
        }
        assert_eq!(line(&["a".to_owned(), String::new()]), "a,\r\n");
        assert_eq!(incomplete("a\nb"), "# incomplete: a b\r\n");
    }
}
