//! The parts of a file, each as many lines as one call takes.

use std::io::{BufRead, Read};

use anyhow::{Context, bail, ensure};
use portcullis_engine::json;
use portcullis_model::relation::MAX_TUPLES;
use sha2::{Digest, Sha256};

use super::kind::Loaded;
use super::noted::{Position, Progress};
use super::tuple_line;

/// Most bytes of the lines of a part: half of the body that the service takes.
const MAX_BYTES: usize = 4 << 20;
/// Longest line, in bytes. An entity has at most 16 KiB.
const MAX_LINE: usize = 1 << 20;

/// The lines of one call.
#[derive(Debug)]
pub(super) struct FilePart {
    /// The records as JSON, with commas between them.
    pub(super) records: String,
    /// The number of the line of each.
    pub(super) lines: Vec<u64>,
    /// The place before the part.
    pub(super) begin: Position,
    /// The last line of the part.
    pub(super) last_line: u64,
}

/// Reads the parts of a file.
pub(super) struct Parts<R> {
    input: R,
    loaded: Loaded,
    line: u64,
    offset: u64,
    hash: Sha256,
}

impl<R: BufRead> Parts<R> {
    pub(super) fn new(input: R, loaded: Loaded) -> Self {
        Self { input, loaded, line: 0, offset: 0, hash: Sha256::new() }
    }

    /// Skips what was written before the last part. Returns whether that is the same text still.
    pub(super) fn skip(&mut self, progress: &Progress) -> anyhow::Result<bool> {
        let mut before = self.input.by_ref().take(progress.before_last.offset);
        loop {
            let piece = before.fill_buf().context("the file")?;
            let length = piece.len();
            if length == 0 {
                break;
            }
            self.hash.update(piece);
            self.offset += length as u64;
            before.consume(length);
        }
        self.line = progress.before_last.line;
        Ok(self.position() == progress.before_last)
    }

    fn position(&self) -> Position {
        let digest = self.hash.clone().finalize();
        let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Position { line: self.line, offset: self.offset, digest }
    }

    /// Returns the next part; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or a line is no record. The lines before it are not in a part then.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<FilePart>> {
        let begin = self.position();
        let (mut records, mut lines) = (String::new(), Vec::new());
        while lines.len() < MAX_TUPLES && records.len() < MAX_BYTES {
            let Some(line) = self.read_line()? else { break };
            let marked = self.line == 1;
            let line = if marked { line.trim_start_matches('\u{feff}') } else { &line }.trim();
            if line.is_empty() {
                continue;
            }
            if !lines.is_empty() {
                records.push(',');
            }
            self.add_record(line, &mut records)
                .with_context(|| format!("line {} of the file", self.line))?;
            lines.push(self.line);
        }
        Ok((!lines.is_empty()).then_some(FilePart { records, lines, begin, last_line: self.line }))
    }

    /// Reads a line with its end; `None` at the end of the file.
    fn read_line(&mut self) -> anyhow::Result<Option<String>> {
        let mut line = Vec::new();
        // One byte more tells a line that is too long.
        let mut input = self.input.by_ref().take(MAX_LINE as u64 + 1);
        input.read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        self.offset += line.len() as u64;
        self.hash.update(&line);
        let number = self.line;
        ensure!(
            line.len() <= MAX_LINE,
            "line {number} of the file is longer than {MAX_LINE} bytes"
        );
        let text = String::from_utf8(line);
        text.map(Some).with_context(|| format!("line {number} of the file"))
    }

    /// Adds the record of a line, as JSON.
    fn add_record(&self, line: &str, records: &mut String) -> anyhow::Result<()> {
        if line.starts_with('{') {
            // A line that is not JSON would make the whole body unreadable.
            json::parse(line.as_bytes())?;
            records.push_str(line);
            return Ok(());
        }
        match self.loaded {
            Loaded::Entities => bail!("expected an entity as a JSON object"),
            Loaded::Relations => {
                let tuple = tuple_line::read(line).context(
                    "expected a tuple as a JSON object, or as `<type>:<id>#<relation>@<type>:<id>`, which `#<relation>` may follow",
                )?;
                records.push_str(&tuple.to_string());
                Ok(())
            }
        }
    }
}
