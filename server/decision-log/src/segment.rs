//! One write-ahead file: a head with a mark, then frames.
//!
//! The mark is the number of asynchronous records that the file is to hold. It is written before a record is accepted, into
//! the page cache, so that it outlives the process: after a kill, the mark and the frames tell how many records are lost.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::frame::{self, Frame, Kind};

/// The first bytes of a file: the format and its version.
const MAGIC: [u8; 8] = *b"PCLSDL01";
/// Bytes of the head: the format and the mark.
pub(crate) const HEAD: u64 = 16;
/// The ending of the names of write-ahead files.
const ENDING: &str = "wal";

/// A write-ahead file. Frames are appended to it until it is closed.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    /// Bytes up to the end of the last whole frame.
    length: AtomicU64,
}

/// The findings of [`Segment::recover`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Recovered {
    pub(crate) records: u64,
    /// Asynchronous records that were accepted and are not there.
    pub(crate) lost: u64,
    /// Bytes behind the last whole frame, which were cut.
    pub(crate) cut: u64,
}

impl Segment {
    /// Makes an empty file.
    pub(crate) fn create(folder: &Path, number: u64) -> io::Result<Arc<Self>> {
        let path = folder.join(format!("{number:020}.{ENDING}"));
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        file.write_all(&MAGIC)?;
        file.write_all(&0_u64.to_le_bytes())?;
        file.sync_all()?;
        File::open(folder)?.sync_all()?;
        Ok(Arc::new(Self { number, path, file, length: AtomicU64::new(HEAD) }))
    }

    /// Returns the numbers of the files of `folder`, in ascending order.
    pub(crate) fn numbers(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
        let mut found = Vec::new();
        for entry in folder.read_dir()? {
            let path = entry?.path();
            let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            if let Some(number) =
                number.filter(|_| path.extension().is_some_and(|end| end == ENDING))
            {
                found.push((number, path));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Opens a file that another process wrote, cuts what follows its last whole frame, and counts what is lost.
    pub(crate) fn recover(number: u64, path: PathBuf) -> io::Result<(Arc<Self>, Recovered)> {
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        let segment = Self { number, path, file, length: AtomicU64::new(u64::MAX) };
        let (mut found, mut kept, mut length) = (Recovered::default(), 0, HEAD);
        if segment.has_head()? {
            length = segment.read(|frame| {
                found.records += 1;
                kept += u64::from(frame.kind == Kind::Async);
            })?;
            found.lost = segment.mark()?.saturating_sub(kept);
        }
        found.cut = segment.file.metadata()?.len().saturating_sub(length);
        segment.file.set_len(length)?;
        segment.write_head()?;
        segment.set_mark(kept)?;
        segment.file.sync_all()?;
        segment.length.store(length, Ordering::Release);
        Ok((Arc::new(segment), found))
    }

    /// A process that died while it made the file left it without a head.
    fn has_head(&self) -> io::Result<bool> {
        let mut magic = [0; MAGIC.len()];
        let whole = self.file.metadata()?.len() >= HEAD;
        if whole {
            self.file.read_exact_at(&mut magic, 0)?;
        }
        if whole && magic != MAGIC {
            let path = self.path.display();
            let text = format!("`{path}` is not a write-ahead file of this version: move it away");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(whole)
    }

    fn write_head(&self) -> io::Result<()> {
        self.file.write_all_at(&MAGIC, 0)
    }

    fn mark(&self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, MAGIC.len() as u64)?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(crate) fn set_mark(&self, mark: u64) -> io::Result<()> {
        self.file.write_all_at(&mark.to_le_bytes(), MAGIC.len() as u64)
    }

    /// Bytes up to the end of the last whole frame.
    pub(crate) fn length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    /// Appends whole frames. After a failure the file is as before.
    pub(crate) fn append(&self, frames: &[u8]) -> io::Result<()> {
        let length = self.length();
        if let Err(error) = self.file.write_all_at(frames, length) {
            // What the disk took of the frames is cut now or at the next start.
            let _ = self.file.set_len(length);
            return Err(error);
        }
        self.length.store(length + frames.len() as u64, Ordering::Release);
        Ok(())
    }

    /// Passes each frame to `visit`, and returns the bytes up to the end of the last whole one.
    pub(crate) fn read(&self, mut visit: impl FnMut(Frame<'_>)) -> io::Result<u64> {
        // An own handle: two readers would share the position of one.
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(HEAD))?;
        let mut from = BufReader::with_capacity(256 * 1024, file.take(self.length() - HEAD));
        let (mut buffer, mut length) = (Vec::new(), HEAD);
        while let Some(bytes) = frame::read(&mut from, &mut buffer)? {
            let Some(frame) = Frame::parse(&buffer) else { break };
            visit(frame);
            length += bytes;
        }
        Ok(length)
    }
}
