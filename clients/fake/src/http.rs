//! HTTP/1.1 as far as the scenarios need it: requests with a length, and answers that can go wrong.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

use crate::scenario::{Answer, Fault, Seen};

/// The largest head and the largest body of a request.
const HEAD: usize = 64 << 10;
const BODY: usize = 16 << 20;
/// The time between two bytes of a slow answer.
const DRIP: Duration = Duration::from_millis(100);

/// Serves connections until the process ends, each with a thread of its own.
pub(crate) fn serve(
    listener: &TcpListener,
    answer: impl Fn(Seen) -> anyhow::Result<Answer> + Send + Sync + 'static,
) {
    let answer = Arc::new(answer);
    for stream in listener.incoming().flatten() {
        let answer = Arc::clone(&answer);
        // The client sees what went wrong: its connection ends.
        std::thread::spawn(move || connection(stream, &*answer));
    }
}

fn connection(
    mut stream: TcpStream,
    answer: &impl Fn(Seen) -> anyhow::Result<Answer>,
) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut rest = Vec::new();
    while let Some(seen) = read(&mut stream, &mut rest)? {
        if !send(&mut stream, &answer(seen)?)? {
            break;
        }
    }
    Ok(())
}

/// Reads a request. Returns `None` where the client has closed the connection.
fn read(stream: &mut TcpStream, rest: &mut Vec<u8>) -> anyhow::Result<Option<Seen>> {
    let mut chunk = [0; 16 << 10];
    loop {
        if let Some((seen, length)) = parse(rest)? {
            rest.drain(..length);
            return Ok(Some(seen));
        }
        ensure!(rest.len() < HEAD + BODY, "the request is too large");
        let read = stream.read(&mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        rest.extend_from_slice(&chunk[..read]);
    }
}

/// Returns the request at the start of `bytes` and its length, if it is there whole.
fn parse(bytes: &[u8]) -> anyhow::Result<Option<(Seen, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head) = request.parse(bytes)? else { return Ok(None) };
    let headers: BTreeMap<String, String> = request
        .headers
        .iter()
        .map(|header| {
            (header.name.to_lowercase(), String::from_utf8_lossy(header.value).into_owned())
        })
        .collect();
    if headers.contains_key("transfer-encoding") {
        bail!("a request without a length");
    }
    let length = headers.get("content-length").map_or(Ok(0), |length| length.parse::<usize>());
    let length = length.context("the length of the body")?;
    // The rest of the body has not arrived yet.
    let Some(body) = bytes.get(head..head + length) else { return Ok(None) };
    let (method, path) = (request.method.unwrap_or_default(), request.path.unwrap_or_default());
    let seen =
        Seen { method: method.to_owned(), path: path.to_owned(), headers, body: body.to_vec() };
    Ok(Some((seen, head + length)))
}

/// Sends an answer, in the way that its fault says. Returns whether the connection goes on.
fn send(stream: &mut TcpStream, answer: &Answer) -> anyhow::Result<bool> {
    std::thread::sleep(Duration::from_millis(answer.delay_ms));
    let body = match (&answer.json, &answer.body) {
        (Some(json), _) => json.to_string().into_bytes(),
        (None, Some(text)) => text.clone().into_bytes(),
        (None, None) => Vec::new(),
    };
    match answer.fault {
        Some(Fault::Close) => return Ok(false),
        Some(Fault::Reset) => {
            // No time to linger: the close is a reset.
            socket2::SockRef::from(&*stream).set_linger(Some(Duration::ZERO))?;
            return Ok(false);
        }
        Some(Fault::Hang) => {
            // Until the client gives up.
            while stream.read(&mut [0; 1024])? > 0 {}
            return Ok(false);
        }
        Some(Fault::Half | Fault::Slow) | None => {}
    }
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", answer.status);
    if answer.status != 204 && !answer.has_header("content-length") {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    if answer.json.is_some() && !answer.has_header("content-type") {
        head.push_str("Content-Type: application/json\r\n");
    }
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    match answer.fault {
        Some(Fault::Half) => {
            stream.write_all(&body[..body.len() / 2])?;
            return Ok(false);
        }
        Some(Fault::Slow) => {
            for byte in &body {
                std::thread::sleep(DRIP);
                stream.write_all(&[*byte])?;
            }
        }
        _ => stream.write_all(&body)?,
    }
    stream.flush()?;
    Ok(true)
}
