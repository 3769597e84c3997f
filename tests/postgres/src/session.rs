//! A connection that speaks the simple query protocol. So tests need neither `psql`, which some packages of the
//! server do not have, nor the driver that they test.
//!
//! See "Frontend/Backend Protocol" in the manual of PostgreSQL; all versions since 7.4 speak 3.0.

use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The time limit of a statement. A statement that takes longer waits for a lock that is never released.
const PATIENCE: Duration = Duration::from_secs(60);

/// Version 3.0 of the protocol, as the first message of a session encodes it.
const PROTOCOL: u32 = 3 << 16;

/// An open connection. A transaction that it begins stays open between calls.
#[derive(Debug)]
pub struct Session {
    stream: BufReader<UnixStream>,
}

/// The failure of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    /// The SQLSTATE; class 08 if the connection failed.
    pub code: String,
    /// The message of the server.
    pub message: String,
}

impl fmt::Display for SqlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for SqlError {}

impl From<io::Error> for SqlError {
    fn from(fault: io::Error) -> Self {
        Self { code: "08006".to_owned(), message: fault.to_string() }
    }
}

impl Session {
    pub(crate) fn open(socket: &Path, user: &str, database: &str) -> Result<Self, SqlError> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut session = Self { stream: BufReader::new(stream) };
        let parameters = format!("user\0{user}\0database\0{database}\0\0");
        session.send(&[], &[&PROTOCOL.to_be_bytes(), parameters.as_bytes()].concat())?;
        session.answer()?;
        Ok(session)
    }

    /// Runs statements, and returns the rows as `psql -At` prints them: `|` between columns, nothing for `NULL`, a
    /// line per row.
    ///
    /// # Errors
    ///
    /// Returns the error of the server if a statement fails.
    pub fn try_execute(&mut self, sql: &str) -> Result<String, SqlError> {
        match self.send(b"Q", &[sql.as_bytes(), b"\0"].concat()) {
            Ok(()) => self.answer(),
            // A server that ends the session sends its reason first.
            Err(fault) => Err(self.answer().err().unwrap_or_else(|| fault.into())),
        }
    }

    /// Runs statements that succeed, as [`try_execute`](Self::try_execute) does. Panics if one fails.
    #[track_caller]
    pub fn execute(&mut self, sql: &str) -> String {
        match self.try_execute(sql) {
            Ok(rows) => rows,
            Err(fault) => panic!("`{sql}`: {fault}"),
        }
    }

    fn send(&mut self, kind: &[u8], body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len() + 4).map_err(io::Error::other)?;
        self.stream.get_mut().write_all(&[kind, &length.to_be_bytes(), body].concat())
    }

    /// Reads until the server waits for the next statement.
    fn answer(&mut self) -> Result<String, SqlError> {
        let mut rows = Vec::new();
        let mut fault = None;
        loop {
            match self.receive() {
                Ok((b'D', row)) => rows.push(columns(&row)?),
                Ok((b'E', fields)) => fault = Some(error(&fields)),
                Ok((b'R', method)) if method != [0; 4] => {
                    return Err(io::Error::other("the server wants a password").into());
                }
                Ok((b'Z', _)) => return fault.map_or_else(|| Ok(rows.join("\n")), Err),
                Ok(_) => {}
                // A fatal error is the last message of the server and has the reason.
                Err(end) => return Err(fault.unwrap_or_else(|| end.into())),
            }
        }
    }

    fn receive(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let (mut kind, mut length) = ([0; 1], [0; 4]);
        self.stream.read_exact(&mut kind)?;
        self.stream.read_exact(&mut length)?;
        let mut body = vec![0; (u32::from_be_bytes(length) as usize).saturating_sub(4)];
        self.stream.read_exact(&mut body)?;
        Ok((kind[0], body))
    }
}

fn columns(row: &[u8]) -> io::Result<String> {
    let mut rest = row;
    let mut count = [0; 2];
    rest.read_exact(&mut count)?;
    let mut columns = Vec::new();
    for _ in 0..u16::from_be_bytes(count) {
        let mut length = [0; 4];
        rest.read_exact(&mut length)?;
        // A negative length stands for `NULL`.
        let mut value = vec![0; usize::try_from(i32::from_be_bytes(length)).unwrap_or(0)];
        rest.read_exact(&mut value)?;
        columns.push(String::from_utf8_lossy(&value).into_owned());
    }
    Ok(columns.join("|"))
}

fn error(fields: &[u8]) -> SqlError {
    let field = |kind: u8| {
        let mut fields = fields.split(|byte| *byte == 0);
        let value = fields.find_map(|field| field.strip_prefix(&[kind]));
        value.map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
    };
    SqlError { code: field(b'C'), message: field(b'M') }
}
