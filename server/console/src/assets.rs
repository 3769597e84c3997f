//! The files that pages load: one style sheet and one script. Their names have a hash, so that a browser keeps them for ever.

use std::io::Write;
use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, VARY,
};
use portcullis_http::error::ApiError;
use portcullis_http::path::Segments;
use sha2::{Digest, Sha256};

/// A file, as it is served.
pub(crate) struct Asset {
    /// The name with the hash.
    pub(crate) name: String,
    content_type: &'static str,
    plain: Bytes,
    gzipped: Bytes,
}

/// The files.
pub(crate) struct Assets {
    pub(crate) style: Asset,
    pub(crate) script: Asset,
}

pub(crate) static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: asset(
        ("console", "css"),
        "text/css; charset=utf-8",
        include_bytes!("../assets/console.css"),
    ),
    script: asset(
        ("console", "js"),
        "text/javascript; charset=utf-8",
        include_bytes!("../assets/console.js"),
    ),
});

fn asset((stem, ending): (&str, &str), content_type: &'static str, text: &'static [u8]) -> Asset {
    let digest = Sha256::digest(text);
    let hash: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Asset {
        name: format!("{stem}-{hash}.{ending}"),
        content_type,
        plain: Bytes::from_static(text),
        gzipped: gzipped(text).into(),
    }
}

/// Compresses a file, once at the first request. Writing to memory does not fail; an empty one is not served.
fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(text);
    written.and_then(|()| encoder.finish()).unwrap_or_default()
}

/// Serves a file.
pub(crate) async fn serve(
    headers: HeaderMap,
    Segments(name): Segments<String>,
) -> Result<Response, ApiError> {
    let Assets { style, script } = &*ASSETS;
    let found = [style, script].into_iter().find(|asset| asset.name == name);
    let asset = found.ok_or(ApiError::not_found("file"))?;
    let mut answer = [
        (CONTENT_TYPE, HeaderValue::from_static(asset.content_type)),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
        (VARY, HeaderValue::from_static("accept-encoding")),
    ]
    .into_response();
    if accepts_gzip(&headers) && !asset.gzipped.is_empty() {
        answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        *answer.body_mut() = asset.gzipped.clone().into();
    } else {
        *answer.body_mut() = asset.plain.clone().into();
    }
    Ok(answer)
}

/// Returns whether the client takes a compressed file (RFC 9110, section 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let sent = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = sent.flat_map(|text| text.split(',')).map(str::trim);
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        // A weight of 0 refuses the coding.
        let refused = weight.trim().strip_prefix("q=").and_then(|q| q.parse::<f32>().ok());
        name.trim().eq_ignore_ascii_case("gzip") && refused.is_none_or(|q| q > 0.0)
    })
}
