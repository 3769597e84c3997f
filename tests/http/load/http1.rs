//! Clients of HTTP/1.1, which may send several requests before they read the answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::{Answers, Check, Supply};

/// Connections, each with its own thread.
const CONNECTIONS: usize = 16;

/// Sends the load, `pipelined` requests at a time on each connection.
pub(super) fn send(supply: &Supply, pipelined: usize) -> Vec<Answers> {
    std::thread::scope(|scope| {
        let client = || scope.spawn(|| serve_client(supply, pipelined));
        let clients: Vec<_> = (0..CONNECTIONS).map(|_| client()).collect();
        clients.into_iter().map(|client| client.join().expect("a client")).collect()
    })
}

fn serve_client(supply: &Supply, pipelined: usize) -> Answers {
    let stream = TcpStream::connect(supply.address()).expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    let mut connection = BufReader::with_capacity(64 * 1024, stream);
    let (mut answers, mut batch) = (Answers::default(), Vec::new());
    loop {
        batch.clear();
        let sent = (0..pipelined)
            .map_while(|_| supply.next())
            .map(|check| write(supply.path(), check, &mut batch));
        let sent = sent.count();
        if sent == 0 {
            return answers;
        }
        let begun = Instant::now();
        connection.get_mut().write_all(&batch).expect("the requests are sent");
        for _ in 0..sent {
            let status = read(&mut connection);
            answers.add(status, begun.elapsed());
        }
    }
}

fn write(path: &str, check: &Check, batch: &mut Vec<u8>) {
    let Check { token, body } = check;
    let length = body.len();
    let authorization =
        if token.is_empty() { String::new() } else { format!("authorization: Bearer {token}\r\n") };
    write!(
        batch,
        "POST {path} HTTP/1.1\r\nhost: localhost\r\n{authorization}\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .expect("memory");
}

/// Reads an answer, and returns its status.
fn read(connection: &mut BufReader<TcpStream>) -> u16 {
    let (mut status, mut length, mut line) = (0, 0, String::new());
    loop {
        line.clear();
        connection.read_line(&mut line).expect("a line of the answer");
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest.get(..3).and_then(|text| text.parse().ok()).expect("a status");
        } else if let Some(text) = length_of(&line) {
            length = text.trim().parse().expect("a length");
        } else if line.trim().is_empty() {
            break;
        }
    }
    connection.read_exact(&mut vec![0; length]).expect("the body");
    status
}

/// Returns the value of the header `Content-Length`, if this is its line.
fn length_of(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':')?;
    name.eq_ignore_ascii_case("content-length").then_some(value)
}
