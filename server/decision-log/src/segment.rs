//! One write-ahead file: a head with a mark, then frames.
//!
//! The mark is the number of asynchronous records that the file is to hold. It is written before a record is accepted, into
//! the page cache, so that it outlives the process: after a kill, the mark and the frames tell how many records are lost.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use uuid::Uuid;

use crate::frame::{self, Frame, Kind};
use crate::permissions::FILE_MODE;

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
    extent: Mutex<Extent>,
}

/// The whole frames of a write-ahead file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Bytes up to the end of the last one.
    pub(crate) length: u64,
    /// The smallest and the greatest id.
    pub(crate) ids: Option<(Uuid, Uuid)>,
}

impl Extent {
    const EMPTY: Self = Self { length: HEAD, ids: None };

    fn add(&mut self, id: Uuid) {
        let (first, last) = self.ids.unwrap_or((id, id));
        self.ids = Some((first.min(id), last.max(id)));
    }
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
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(FILE_MODE);
        let mut file = options.open(&path)?;
        file.write_all(&MAGIC)?;
        file.write_all(&0_u64.to_le_bytes())?;
        file.sync_all()?;
        File::open(folder)?.sync_all()?;
        Ok(Arc::new(Self { number, path, file, extent: Mutex::new(Extent::EMPTY) }))
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
        let bytes = file.metadata()?.len();
        let segment = Self { number, path, file, extent: Mutex::new(Extent::EMPTY) };
        let (mut found, mut kept, mut extent) = (Recovered::default(), 0, Extent::EMPTY);
        if segment.has_head()? {
            extent.length = segment.read(bytes, |frame| {
                found.records += 1;
                kept += u64::from(frame.kind == Kind::Async);
                extent.add(frame.id);
            })?;
            found.lost = segment.mark()?.saturating_sub(kept);
        }
        found.cut = bytes.saturating_sub(extent.length);
        segment.file.set_len(extent.length)?;
        segment.write_head()?;
        segment.set_mark(kept)?;
        segment.file.sync_all()?;
        *segment.extent.lock() = extent;
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

    /// Returns what is written by now.
    pub(crate) fn extent(&self) -> Extent {
        *self.extent.lock()
    }

    /// Bytes up to the end of the last whole frame.
    pub(crate) fn length(&self) -> u64 {
        self.extent().length
    }

    /// Appends whole frames of records with these ids. After a failure the file is as before.
    pub(crate) fn append(
        &self,
        frames: &[u8],
        ids: impl IntoIterator<Item = Uuid>,
    ) -> io::Result<()> {
        let length = self.length();
        if let Err(error) = self.file.write_all_at(frames, length) {
            // What the disk took of the frames is cut now or at the next start.
            let _ = self.file.set_len(length);
            return Err(error);
        }
        let mut extent = self.extent.lock();
        extent.length = length + frames.len() as u64;
        ids.into_iter().for_each(|id| extent.add(id));
        Ok(())
    }

    /// Passes each frame of the first `length` bytes to `visit`, and returns the bytes up to the end of the last whole one.
    /// Reads on after the file was deleted.
    pub(crate) fn read(&self, length: u64, mut visit: impl FnMut(Frame<'_>)) -> io::Result<u64> {
        let part = Part { file: &self.file, at: HEAD, end: length };
        let mut from = BufReader::with_capacity(256 * 1024, part);
        let (mut buffer, mut length) = (Vec::new(), HEAD);
        while let Some(bytes) = frame::read(&mut from, &mut buffer)? {
            let Some(frame) = Frame::parse(&buffer) else { break };
            visit(frame);
            length += bytes;
        }
        Ok(length)
    }
}

/// A part of a file. Several readers share one handle, each with its own position.
struct Part<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = into.len().min(left);
        let read = self.file.read_at(&mut into[..wanted], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
