//! Pages of lists: `?limit=` and `?cursor=`, and a `Link` to the next page (`docs/semantics.md`, section 8.7).

use std::io::Write;
use std::marker::PhantomData;

use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::LINK;
use http::{HeaderValue, Uri};
use portcullis_model::page::{Listed, MAX_PAGE_BYTES, Page};
use portcullis_model::schema;
use serde::Serialize;
use serde_json::Error;
use sha2::{Digest, Sha256};
use url::form_urlencoded;
use uuid::Uuid;

use crate::answer_text::AnswerText;
use crate::error::ApiError;
use crate::parameters::digits;
use crate::query::{QueryParameters, QueryReader, query};
use crate::text_answer::{self, JSON, Unwritten};

/// Longest page, and the length of a page without `limit`.
const MAX_LIMIT: usize = 1_000;

/// Bytes of the mark in a cursor. A cursor is the place of the last record of a page, and a mark of its list, filter and tenant.
const MARK_BYTES: usize = 8;

/// The page that a request wants, of a list whose records are in the order of `K`.
#[derive(Debug)]
pub struct Requested<K = Uuid> {
    uri: Uri,
    after: K,
    limit: usize,
    mark: [u8; MARK_BYTES],
}

/// The place of a record in its list, as a cursor has it.
pub trait CursorKey: Default {
    fn bytes(&self) -> &[u8];
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl CursorKey for Uuid {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_slice(bytes).ok()
    }
}

impl CursorKey for String {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        // PostgreSQL refuses U+0000 in a text.
        Self::from_utf8(bytes.to_vec()).ok().filter(|text| !text.contains('\0'))
    }
}

/// The query parameters of a list whose records are in the order of `K`.
#[derive(Debug)]
pub struct PageQuery<K = Uuid> {
    uri: Uri,
    limit: usize,
    cursor: Option<String>,
    order: PhantomData<K>,
}

impl<K> QueryParameters for PageQuery<K> {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let limit = query.optional(
            "limit",
            "The length of a page",
            || schema::integer(1, MAX_LIMIT as i64).default(Some(MAX_LIMIT.into())),
            |text| digits(text).filter(|limit| (1..=MAX_LIMIT).contains(limit)),
            &format!("be from 1 to {MAX_LIMIT}"),
        )?;
        let about = "Where the page begins: from the `Link` of the page before. It belongs to its list, \
                     filter and tenant";
        Ok(Self {
            uri: query.uri(),
            limit: limit.unwrap_or(MAX_LIMIT),
            cursor: query.text("cursor", about)?,
            order: PhantomData,
        })
    }
}

impl<K: CursorKey> PageQuery<K> {
    /// Returns the page of `list`. A cursor is valid only for the `list`, `tenant` and `filter` that it was made for.
    ///
    /// # Errors
    /// The cursor belongs to another list.
    pub fn in_list(self, list: &str, tenant: &str, filter: &str) -> Result<Requested<K>, ApiError> {
        let mut hash = Sha256::new();
        for part in [list, tenant, filter] {
            // The lengths keep apart what would be the same text when joined.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let mut mark = [0; MARK_BYTES];
        mark.copy_from_slice(&hash.finalize()[..MARK_BYTES]);
        let Self { uri, limit, cursor, .. } = self;
        let after = cursor.map(|cursor| parse_cursor(&cursor, mark)).transpose()?;
        Ok(Requested { uri, after: after.unwrap_or_default(), limit, mark })
    }
}

fn parse_cursor<K: CursorKey>(text: &str, mark: [u8; MARK_BYTES]) -> Result<K, ApiError> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok();
    let key = bytes.and_then(|bytes| {
        let (key, own_mark) = bytes.split_at_checked(bytes.len().checked_sub(MARK_BYTES)?)?;
        if own_mark == mark { K::from_bytes(key) } else { None }
    });
    key.ok_or_else(|| {
        ApiError::bad_request(
            "the query parameter `cursor` does not belong to this list; take it from the `Link` header",
        )
    })
}

impl Requested<Uuid> {
    /// Returns the page to fetch.
    pub fn fetch(&self) -> Page {
        Page { after: self.after, limit: self.limit() }
    }
}

impl<K: CursorKey> Requested<K> {
    /// Returns the place after which the page begins; the default at the start.
    pub fn after(&self) -> &K {
        &self.after
    }

    /// Returns the most records of the page.
    pub fn limit(&self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX)
    }

    /// Answers with the page, and with a link to the next page if there is one.
    pub fn respond<T: Serialize>(&self, listed: Listed<T>, key: impl Fn(&T) -> K) -> Response {
        self.respond_up_to(listed, None, key)
    }

    /// Answers as [`Requested::respond`] does. If the search ended early, the page after this one begins after `rest`.
    pub fn respond_up_to<T: Serialize>(
        &self,
        listed: Listed<T>,
        rest: Option<K>,
        key: impl Fn(&T) -> K,
    ) -> Response {
        let Listed { records, more } = listed;
        let (list, written) = match write(&records) {
            Ok(page) => page,
            Err(error) => return Unwritten::from(error).into_response(),
        };
        let last = records.get(..written).and_then(<[T]>::last);
        // The page may end early by its bytes, where the list had no more records.
        let last = last.filter(|_| more || written < records.len()).map(key);
        // Records that did not fit come before `rest`.
        let link = last.or(rest).and_then(|last| self.link(&last));
        (link.map(|link| [(LINK, link)]), text_answer::written(JSON, list)).into_response()
    }

    /// Returns the cursor of the page after the record `last`.
    pub fn cursor(&self, last: &K) -> String {
        URL_SAFE_NO_PAD.encode([last.bytes(), &self.mark].concat())
    }

    /// Returns the `Link` to the page after the record `last`.
    pub fn link(&self, last: &K) -> Option<HeaderValue> {
        let cursor = self.cursor(last);
        let others = query(&self.uri).filter(|(name, _)| name != "cursor");
        let next = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(others)
            .append_pair("cursor", &cursor)
            .finish();
        // RFC 8288, 3.1: the client resolves the reference by the address that it asked.
        HeaderValue::from_str(&format!("<{}?{next}>; rel=\"next\"", self.uri.path())).ok()
    }
}

/// Writes the first records as a JSON list: as many as fit into [`MAX_PAGE_BYTES`], and at least one. Returns the list
/// and the number of its records.
fn write<T: Serialize>(records: &[T]) -> serde_json::Result<(AnswerText, usize)> {
    let mut list = AnswerText::default();
    add(&mut list, b"[")?;
    let mut written = 0;
    for record in records {
        let before = list.len();
        if written > 0 {
            add(&mut list, b",")?;
        }
        serde_json::to_writer(&mut list, record)?;
        if written > 0 && list.len() >= MAX_PAGE_BYTES {
            // Its comma goes, too.
            list.truncate(before);
            break;
        }
        written += 1;
    }
    add(&mut list, b"]")?;
    Ok((list, written))
}

fn add(list: &mut AnswerText, text: &[u8]) -> serde_json::Result<()> {
    list.write_all(text).map_err(Error::io)
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::recipient::tests::in_request;

    #[tokio::test]
    async fn a_page_links_to_the_place_where_its_search_ended() {
        let page = Requested {
            uri: Uri::from_static("/list?limit=2"),
            after: Uuid::nil(),
            limit: 2,
            mark: [7; MARK_BYTES],
        };
        let (last, rest) = (Uuid::from_u128(3), Uuid::from_u128(5));
        for (records, more, rest, expected) in [
            (vec![], false, None, None),
            (vec![], false, Some(rest), Some(rest)),
            (vec![last], false, Some(rest), Some(rest)),
            (vec![last], true, None, Some(last)),
        ] {
            let respond = || page.respond_up_to(Listed { records, more }, rest, |id| *id);
            let answer = in_request(respond).await;
            let link = answer.headers().get(LINK).and_then(|link| link.to_str().ok());
            let next = expected.map(|after| {
                format!("</list?limit=2&cursor={}>; rel=\"next\"", page.cursor(&after))
            });
            assert_eq!(link, next.as_deref());
        }
    }

    #[tokio::test]
    async fn a_list_ends_before_it_is_too_large() {
        // A character that JSON writes with six bytes, so that the store counts a sixth.
        let small = |bytes: usize| "\u{1}".repeat(bytes / 6);
        for (records, expected) in [
            (vec![], 0),
            (vec![small(60)], 1),
            (vec![small(60), small(60), small(60)], 3),
            (vec![small(400_000); 4], 2),
            (vec![small(9_000_000)], 1),
            (vec![small(9_000_000), small(60)], 1),
            (vec![small(60), small(9_000_000)], 1),
        ] {
            let (list, written) = in_request(|| write(&records)).await.expect("JSON");
            assert_eq!(written, expected);
            let length = list.len();
            let list = list.into_body().collect().await.expect("a body").to_bytes();
            let read: Vec<String> = serde_json::from_slice(&list).expect("a list");
            assert_eq!(length, list.len());
            assert_eq!(read, records[..written]);
            assert!(written < 2 || list.len() <= MAX_PAGE_BYTES, "{} bytes", list.len());
        }
    }
}
