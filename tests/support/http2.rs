//! A client that speaks HTTP/2 frame by frame (RFC 9113), to send what no good client sends.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::client::connect;

/// A connection that is still open then is never closed.
const PATIENCE: Duration = Duration::from_secs(30);

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Largest frame that every server takes, in bytes.
const MAX_FRAME: usize = 16_384;

/// Returns a text as HPACK has it (RFC 7541, section 5.2), without Huffman codes.
fn hpack(text: &str) -> Vec<u8> {
    let mut coded = Vec::new();
    match u8::try_from(text.len()).ok().filter(|length| *length < 127) {
        Some(length) => coded.push(length),
        None => {
            coded.push(127);
            let mut rest = text.len() - 127;
            while rest >= 128 {
                coded.push((rest % 128) as u8 | 128);
                rest /= 128;
            }
            coded.push(rest as u8);
        }
    }
    coded.extend(text.as_bytes());
    coded
}

/// A connection.
pub(crate) struct Http2 {
    stream: TcpStream,
}

/// A frame of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    kind: u8,
    flags: u8,
    /// The stream; 0 is the connection.
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    /// Whether it is the header of an answer.
    pub(crate) fn is_answer(&self) -> bool {
        self.kind == HEADERS
    }

    /// Whether it is the header of a 200, which HPACK has a number for.
    pub(crate) fn is_ok(&self) -> bool {
        self.is_answer() && self.payload.first() == Some(&0x88)
    }

    /// Whether it is a part of the body of an answer.
    pub(crate) fn is_data(&self) -> bool {
        self.kind == DATA
    }

    /// The bytes that the server allows the client to send: more for the stream, which may be the whole connection.
    pub(crate) fn grant(&self) -> Option<i64> {
        let bytes = <[u8; 4]>::try_from(self.payload.as_slice()).ok()?;
        (self.kind == WINDOW_UPDATE).then(|| i64::from(u32::from_be_bytes(bytes)))
    }

    /// The bytes that the server allows for each new stream.
    pub(crate) fn initial_window(&self) -> Option<i64> {
        let settings = self.payload.chunks_exact(6).filter(|_| self.kind == SETTINGS);
        let mut window = settings.filter(|setting| setting[..2] == [0, 4]);
        let value = window.next()?.get(2..6)?.try_into().ok()?;
        Some(i64::from(u32::from_be_bytes(value)))
    }

    /// Whether it is the header of a 404, which HPACK has a number for.
    pub(crate) fn is_not_found(&self) -> bool {
        self.is_answer() && self.payload.first() == Some(&0x8d)
    }
}

impl Http2 {
    /// Connects with the usual settings.
    pub(crate) fn connect(to: SocketAddr) -> Self {
        Self::begin(connect(to), &[]).expect("the settings are sent")
    }

    /// Connects, and lets the server send no byte of a body.
    pub(crate) fn connect_without_window(to: SocketAddr) -> Self {
        // SETTINGS_INITIAL_WINDOW_SIZE is 0.
        Self::begin(connect(to), &[0, 4, 0, 0, 0, 0]).expect("the settings are sent")
    }

    /// Begins on a connected stream, which the server may close at once.
    pub(crate) fn begin(stream: TcpStream, settings: &[u8]) -> io::Result<Self> {
        let mut connection = Self { stream };
        connection.stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")?;
        connection.write(SETTINGS, 0, 0, settings)?;
        Ok(connection)
    }

    fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).expect("a small frame").to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, flags];
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.stream.write_all(&frame)
    }

    /// Sends a header without a credential. Without `ends` a body follows.
    pub(crate) fn request(
        &mut self,
        stream: u32,
        method: &str,
        path: &str,
        ends: bool,
    ) -> io::Result<()> {
        self.request_with(stream, method, path, &[], ends)
    }

    /// Sends a header with more fields. Without `ends` a body follows.
    pub(crate) fn request_with(
        &mut self,
        stream: u32,
        method: &str,
        path: &str,
        fields: &[(&str, &str)],
        ends: bool,
    ) -> io::Result<()> {
        // The names `:method`, `:path` and `:authority` and the pair `:scheme: http` are numbers in HPACK.
        let literal = |index: u8, text: &str| [vec![index], hpack(text)].concat();
        let mut header =
            [literal(2, method), vec![0x86], literal(4, path), literal(1, "localhost")].concat();
        for (name, value) in fields {
            header.extend([vec![0], hpack(name), hpack(value)].concat());
        }
        let flags = END_HEADERS | if ends { END_STREAM } else { 0 };
        self.write(HEADERS, flags, stream, &header)
    }

    /// Sends a request with a body of JSON as the holder of `token`.
    pub(crate) fn post(
        &mut self,
        stream: u32,
        path: &str,
        token: &str,
        body: &str,
    ) -> io::Result<()> {
        let authorization = format!("Bearer {token}");
        let fields = [("authorization", &*authorization), ("content-type", "application/json")];
        self.request_with(stream, "POST", path, &fields, false)?;
        for part in body.as_bytes().chunks(MAX_FRAME) {
            self.data(stream, part)?;
        }
        self.write(DATA, END_STREAM, stream, &[])
    }

    /// Sends a part of a body.
    pub(crate) fn data(&mut self, stream: u32, data: &[u8]) -> io::Result<()> {
        self.write(DATA, 0, stream, data)
    }

    /// Sends a ping; the server answers while the connection is open.
    pub(crate) fn ping(&mut self) -> io::Result<()> {
        self.write(PING, 0, 0, &[7; 8])
    }

    /// Whether the server sent something that is not read yet, or ended the connection.
    pub(crate) fn is_readable(&self) -> bool {
        self.stream.set_nonblocking(true).expect("a socket");
        let is_readable = self.stream.peek(&mut [0]).is_ok();
        self.stream.set_nonblocking(false).expect("a socket");
        is_readable
    }

    /// Returns the next frame. Answers settings and pings, as a good client does. `None` when the connection ends.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let frame = Frame { kind: head[3], flags: head[4], stream, payload };
        if frame.flags & ACK == 0 && matches!(frame.kind, SETTINGS | PING) {
            let payload = if frame.kind == PING { &frame.payload[..] } else { &[] };
            // A connection that ends answers nothing any more.
            let _ = self.write(frame.kind, ACK, 0, payload);
        }
        Some(frame)
    }

    /// Reads until `find` finds its frame; `None` when the connection ends before.
    pub(crate) fn wait_for(&mut self, find: impl Fn(&Frame) -> bool) -> Option<Frame> {
        loop {
            let frame = self.next()?;
            if find(&frame) {
                return Some(frame);
            }
        }
    }

    /// Reads until the server closes the connection; panics when it never does.
    #[track_caller]
    pub(crate) fn wait_until_closed(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while self.next().is_some() {
            assert!(Instant::now() < deadline, "the connection is still open");
        }
        // The server pings an open connection every ten seconds, so that a read does not time out.
        assert!(Instant::now() < deadline, "the connection is still open");
    }

    /// Whether the server answers a ping.
    pub(crate) fn is_open(&mut self) -> bool {
        self.ping().is_ok()
            && self.wait_for(|frame| frame.kind == PING && frame.flags & ACK != 0).is_some()
    }

    /// Lets the server send more bytes of the body of a stream.
    pub(crate) fn widen(&mut self, stream: u32, bytes: u32) -> io::Result<()> {
        self.write(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
    }
}
