//! A body of `multipart/form-data` (RFC 7578): a resolver's manifest and its module.

/// What separates the parts: these bytes begin no JSON text and no component, and neither has lines.
const BOUNDARY: &str = "portcullis-2f0a6c1d9b7e4c53";

/// The value of `Content-Type`.
pub(super) fn content_type() -> String {
    format!("multipart/form-data; boundary={BOUNDARY}")
}

/// The body.
pub(super) fn body(manifest: &str, module: &[u8]) -> Vec<u8> {
    let part = |name, kind, bytes: &[u8]| {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{name}\"\r\n\
             Content-Type: {kind}\r\n\r\n"
        );
        [head.as_bytes(), bytes, b"\r\n"].concat()
    };
    let manifest = part("manifest", "application/json", manifest.as_bytes());
    let module = part("module", "application/wasm", module);
    [&manifest[..], &module, format!("--{BOUNDARY}--\r\n").as_bytes()].concat()
}
