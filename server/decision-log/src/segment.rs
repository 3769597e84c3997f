//! One write-ahead file: a head with a mark, then frames.
//!
//! The mark is the number of asynchronous records that the file is to hold. It is written before a record is accepted, into
//! the page cache, so that it outlives the process: after a kill, the mark and the frames tell how many records are lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use parquet::data_type::ByteArray;
use uuid::Uuid;

use crate::frame::{self, Frame, Kind};
use crate::lost::Lost;
use crate::metrics::LogMetrics;
use crate::permissions::FILE_MODE;
use crate::shares::{Account, Shares};

/// The first bytes of a file: the format and its version.
const MAGIC: [u8; 8] = *b"PCLSDL02";
/// The first bytes of a file in which no record refers to a text.
const EARLIER_MAGIC: [u8; 8] = *b"PCLSDL01";
/// Bytes of the head: the format and the mark.
pub(crate) const HEAD: u64 = 16;
/// The ending of the names of write-ahead files.
const ENDING: &str = "wal";
/// The bytes in which the next sound frame is looked for at once.
const WINDOW: usize = 256 * 1024;

/// A write-ahead file. Frames are appended to it until it is closed.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    extent: Mutex<Extent>,
    /// The bytes of the frames of each account.
    accounts: Mutex<BTreeMap<Account, u64>>,
    /// The damaged places that were counted.
    damaged: AtomicU64,
    metrics: LogMetrics,
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

/// The findings of [`Segment::scan`].
#[derive(Clone, Copy, Debug)]
struct Scanned {
    /// The end of the last whole frame.
    end: u64,
    /// The places between frames where no sound one is, and the records without a text that they refer to.
    damaged: u64,
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
    pub(crate) fn create(
        folder: &Path,
        number: u64,
        metrics: &LogMetrics,
    ) -> io::Result<Arc<Self>> {
        let path = folder.join(format!("{number:020}.{ENDING}"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(FILE_MODE);
        let mut file = options.open(&path)?;
        file.write_all(&MAGIC)?;
        file.write_all(&0_u64.to_le_bytes())?;
        file.sync_all()?;
        // The name of a new file is on disk only after its folder is.
        File::open(folder)?.sync_all()?;
        Ok(Arc::new(Self::new(number, path, file, metrics)))
    }

    fn new(number: u64, path: PathBuf, file: File, metrics: &LogMetrics) -> Self {
        let (extent, accounts, damaged) =
            (Mutex::new(Extent::EMPTY), Mutex::default(), AtomicU64::new(0));
        Self { number, path, file, extent, accounts, damaged, metrics: metrics.clone() }
    }

    /// Returns whether a file with this name is one.
    pub(crate) fn has_name(name: &str) -> bool {
        Path::new(name).extension().is_some_and(|end| end == ENDING)
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
    pub(crate) fn recover(
        number: u64,
        path: PathBuf,
        metrics: &LogMetrics,
    ) -> io::Result<(Arc<Self>, Recovered)> {
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        let bytes = file.metadata()?.len();
        let segment = Self::new(number, path, file, metrics);
        let (mut found, mut kept, mut extent) = (Recovered::default(), 0, Extent::EMPTY);
        let mut accounts = BTreeMap::<Account, u64>::new();
        let has_head = segment.has_head()?;
        if has_head {
            let scanned = segment.scan(bytes, |frame, bytes| {
                if frame.kind != Kind::Text {
                    found.records += 1;
                    kept += u64::from(frame.kind == Kind::Async);
                    extent.add(frame.id);
                }
                *accounts.entry(Account::of(frame.tenant)).or_default() += bytes;
            })?;
            extent.length = scanned.end;
            segment.note_damaged(scanned.damaged);
            // The mark counts those at damaged places, too.
            kept += scanned.damaged;
            found.lost = segment.mark()?.saturating_sub(kept);
        }
        found.cut = bytes.saturating_sub(extent.length);
        // This also lengthens a file that ends inside of its head.
        segment.file.set_len(extent.length)?;
        if !has_head {
            segment.file.write_all_at(&MAGIC, 0)?;
        }
        segment.set_mark(kept)?;
        segment.file.sync_all()?;
        *segment.extent.lock() = extent;
        *segment.accounts.lock() = accounts;
        Ok((Arc::new(segment), found))
    }

    /// A process that died while it made the file left it without a head.
    fn has_head(&self) -> io::Result<bool> {
        let mut magic = [0; MAGIC.len()];
        let whole = self.file.metadata()?.len() >= HEAD;
        if whole {
            self.file.read_exact_at(&mut magic, 0)?;
        }
        if whole && magic != MAGIC && magic != EARLIER_MAGIC {
            let path = self.path.display();
            let text = format!("`{path}` is not a write-ahead file of this version");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(whole)
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

    /// Appends whole frames of records with these ids, accounts and lengths. After a failure the file is as before.
    pub(crate) fn append(
        &self,
        frames: &[u8],
        records: impl IntoIterator<Item = (Uuid, Account, u64)>,
    ) -> io::Result<()> {
        let length = self.length();
        if let Err(error) = self.file.write_all_at(frames, length) {
            // What the disk took of the frames is cut now or at the next start.
            let _ = self.file.set_len(length);
            return Err(error);
        }
        let (mut extent, mut accounts) = (self.extent.lock(), self.accounts.lock());
        extent.length = length + frames.len() as u64;
        for (id, account, bytes) in records {
            extent.add(id);
            *accounts.entry(account).or_default() += bytes;
        }
        Ok(())
    }

    /// Counts the frames in `room`.
    pub(crate) fn take_room(&self, room: &mut Shares) {
        self.accounts.lock().iter().for_each(|(account, bytes)| room.add(*account, *bytes));
    }

    /// Gives the room of the frames back.
    pub(crate) fn give_back(&self, room: &mut Shares) {
        self.accounts.lock().iter().for_each(|(account, bytes)| room.give_back(*account, *bytes));
    }

    /// Passes each frame of a record of the first `length` bytes to `visit`. What is damaged is counted, and left out. Reads on
    /// after the file was deleted.
    pub(crate) fn read(&self, length: u64, mut visit: impl FnMut(Frame<'_>)) -> io::Result<()> {
        let scanned = self.scan(length, |frame, _| {
            if frame.kind != Kind::Text {
                visit(frame);
            }
        })?;
        // Only whole frames were written.
        self.note_damaged(scanned.damaged + u64::from(scanned.end < length));
        Ok(())
    }

    /// Passes each frame of the first `length` bytes, and its length, to `visit`. Goes on behind what is damaged.
    fn scan(&self, length: u64, mut visit: impl FnMut(Frame<'_>, u64)) -> io::Result<Scanned> {
        let mut found = Scanned { end: HEAD, damaged: 0 };
        let mut texts = BTreeSet::new();
        let (mut buffer, mut at) = (Vec::new(), HEAD);
        loop {
            let mut from = BufReader::with_capacity(WINDOW, self.part(at, length));
            while let Some(bytes) = frame::read(&mut from, &mut buffer)? {
                let Some(frame) = Frame::parse(&buffer) else { break };
                if frame.kind == Kind::Text {
                    texts.insert(at);
                }
                // A record comes behind its texts.
                let has_texts =
                    frame.references().all(|reference| texts.contains(&reference.offset));
                match has_texts {
                    true => visit(frame, bytes),
                    false => found.damaged += 1,
                }
                at += bytes;
            }
            found.end = at;
            // The length of a damaged frame cannot be trusted: the next one may begin at any byte.
            match self.next_frame(at + 1, length)? {
                Some(next) => (at, found.damaged) = (next, found.damaged + 1),
                None => return Ok(found),
            }
        }
    }

    /// Returns the place of the next sound frame from `at` on, before `end`.
    fn next_frame(&self, mut at: u64, end: u64) -> io::Result<Option<u64>> {
        let (mut window, mut buffer) = (Vec::with_capacity(WINDOW), Vec::new());
        while at + (frame::LEAST as u64) <= end {
            window.clear();
            self.part(at, end).take(WINDOW as u64).read_to_end(&mut window)?;
            if window.len() < frame::LEAST {
                break;
            }
            let places = window.len() - frame::LEAST + 1;
            for place in (0..places).filter(|place| frame::may_begin(&window[*place..])) {
                let place = at + place as u64;
                let is_whole = frame::read(&mut self.part(place, end), &mut buffer)?.is_some();
                if is_whole && Frame::parse(&buffer).is_some() {
                    return Ok(Some(place));
                }
            }
            // The windows overlap, so that their border cuts no head of a frame.
            at += places as u64;
        }
        Ok(None)
    }

    /// Returns the text at `offset`; `None` if there is no sound one.
    pub(crate) fn text_at(&self, offset: u64) -> io::Result<Option<ByteArray>> {
        let mut buffer = Vec::new();
        if frame::read(&mut self.part(offset, self.length()), &mut buffer)?.is_none() {
            return Ok(None);
        }
        let frame = Frame::parse(&buffer).filter(|frame| frame.kind == Kind::Text);
        Ok(frame.map(|frame| frame.json.into()))
    }

    /// Counts damaged places, each once. Each has one record at least.
    fn note_damaged(&self, damaged: u64) {
        let before = self.damaged.fetch_max(damaged, Ordering::Relaxed);
        if damaged > before {
            let (path, places) = (self.path.display(), damaged - before);
            self.metrics.lose(Lost::Damaged, places);
            tracing::error!(%path, places, "a write-ahead file is damaged: the decisions there are lost");
        }
    }

    fn part(&self, at: u64, end: u64) -> FileSpan<'_> {
        FileSpan { file: &self.file, at, end }
    }
}

/// A part of a file. Several readers share one handle, each with its own position.
struct FileSpan<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl Read for FileSpan<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = into.len().min(left);
        let read = self.file.read_at(&mut into[..wanted], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
