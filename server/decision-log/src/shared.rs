//! Texts that several records of a batch have. A write-ahead file has each once, and the records refer to it.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use parquet::data_type::ByteArray;
use portcullis_engine::request::SentPlace;

/// The fewest bytes of a text that is written apart.
const LEAST: usize = 1024;
/// The bytes from which on a text is written apart for the first record that has it, not only for the second: a body has few.
const ALWAYS: usize = 64 * 1024;
/// The most bytes of the texts that a batch remembers.
const MAX_KEPT: usize = 4 * 1024 * 1024;

/// The JSON text in a record in the place of a text that is apart.
pub(crate) const PLACEHOLDER: &[u8] = b"null";

/// A text that several records have.
#[derive(Debug)]
pub(crate) struct SharedText {
    pub(crate) text: ByteArray,
    /// The turn of the buffer in which its bytes were charged last.
    charged: AtomicU64,
    /// The number of the write-ahead file that has it, and its offset there. The writer alone changes it.
    place: Mutex<Option<(u64, u64)>>,
}

/// The use of a text by a record.
#[derive(Clone, Debug)]
pub(crate) struct TextUse {
    /// The place of [`PLACEHOLDER`] in the JSON text of the record.
    pub(crate) at: usize,
    pub(crate) text: Arc<SharedText>,
}

/// A text and the place of [`PLACEHOLDER`] that it belongs to.
pub(crate) type Insert = (usize, ByteArray);

/// The texts that the records of one batch have so far. Each is written once.
#[derive(Debug, Default)]
pub struct BatchTexts(Mutex<KnownTexts>);

#[derive(Debug, Default)]
struct KnownTexts {
    /// By hash; `None` for one that a single record has so far, which has it whole.
    by_hash: HashMap<u64, Option<Arc<SharedText>>>,
    /// The attributes whose text is known by their place in memory.
    sent: HashMap<SentKey, SentText>,
    hasher: RandomState,
    bytes: usize,
}

/// The places of the attributes of a record: `user`, `resource`, `action` and `context`.
pub(crate) type SentKey = [SentPlace; 4];

/// The text of attributes, and what it leaves of the bounds of a record.
#[derive(Clone, Debug)]
pub(crate) struct SentText {
    pub(crate) text: Arc<SharedText>,
    pub(crate) hashes: usize,
    /// The paths of the attributes that it leaves out.
    pub(crate) dropped: BTreeSet<String>,
}

impl BatchTexts {
    /// Returns the text of attributes that an earlier record had.
    pub(crate) fn sent(&self, key: &SentKey) -> Option<SentText> {
        self.0.lock().sent.get(key).cloned()
    }

    /// Remembers the text of attributes.
    pub(crate) fn note_sent(&self, key: SentKey, text: SentText) {
        self.0.lock().sent.insert(key, text);
    }

    /// Returns the text to refer to in the place of `text`; `None` if the record has it whole.
    pub(crate) fn shared(&self, text: &[u8]) -> Option<Arc<SharedText>> {
        if text.len() < LEAST {
            return None;
        }
        let mut known = self.0.lock();
        let hash = known.hasher.hash_one(text);
        match known.by_hash.get(&hash) {
            Some(Some(shared)) => {
                // Two texts may have one hash: the later one stays in its record.
                return (shared.text.data() == text).then(|| Arc::clone(shared));
            }
            None if text.len() < ALWAYS => {
                known.by_hash.insert(hash, None);
                return None;
            }
            _ if known.bytes + text.len() > MAX_KEPT => return None,
            _ => {}
        }
        let shared = Arc::new(SharedText::new(text));
        known.bytes += text.len();
        known.by_hash.insert(hash, Some(Arc::clone(&shared)));
        Some(shared)
    }
}

impl SharedText {
    fn new(text: &[u8]) -> Self {
        // Turns begin at 1, so that 0 is none of them.
        Self { text: text.into(), charged: AtomicU64::new(0), place: Mutex::new(None) }
    }

    /// Returns the bytes that a record which has the text takes in the turn `turn` of the buffer: none if another one took them.
    pub(crate) fn bytes_in(&self, turn: u64) -> usize {
        if self.charged.load(Ordering::Relaxed) == turn { 0 } else { self.text.len() }
    }

    /// Notes that the bytes are charged. Under the lock of the buffer.
    pub(crate) fn charge_in(&self, turn: u64) {
        self.charged.store(turn, Ordering::Relaxed);
    }

    /// Returns the offset of the text in the write-ahead file with this number.
    pub(crate) fn offset_in(&self, file: u64) -> Option<u64> {
        self.place.lock().filter(|(number, _)| *number == file).map(|(_, offset)| offset)
    }

    /// Notes where the text is, or that it is nowhere.
    pub(crate) fn set_place(&self, place: Option<(u64, u64)>) {
        *self.place.lock() = place;
    }
}

/// Returns the address of a text, which tells texts in memory apart.
pub(crate) fn address(text: &ByteArray) -> usize {
    text.data().as_ptr().addr()
}

/// Returns the bytes of a record with its texts.
pub(crate) fn whole_bytes<'t>(
    json: &[u8],
    texts: impl IntoIterator<Item = &'t ByteArray>,
) -> usize {
    json.len() + texts.into_iter().map(ByteArray::len).sum::<usize>()
}

/// Puts the JSON text of a record, with the texts in their places, which ascend, into `whole`.
pub(crate) fn expand<'t>(
    json: &[u8],
    inserts: impl IntoIterator<Item = (usize, &'t ByteArray)>,
    whole: &mut Vec<u8>,
) {
    whole.clear();
    let mut copied = 0;
    for (at, text) in inserts {
        whole.extend_from_slice(json.get(copied..at).unwrap_or_default());
        whole.extend_from_slice(text.data());
        copied = at + PLACEHOLDER.len();
    }
    whole.extend_from_slice(json.get(copied..).unwrap_or_default());
}
