//! Short texts, compared as numbers.

/// A text of at most 16 bytes. The length and the ends tell it from any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShortText {
    length: u32,
    /// The first and the last eight bytes, or four of a text of less than eight. They overlap in a short one.
    ends: (u64, u64),
}

/// Searching at most this many short texts is faster than computing a hash.
pub(crate) const FEW: usize = 8;

/// The most bytes of a short text.
const MAX_LENGTH: usize = 16;

impl ShortText {
    /// Returns the text; `None` if it is too long.
    #[inline]
    pub(crate) fn new(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() > MAX_LENGTH {
            return None;
        }
        let length = u32::try_from(bytes.len()).ok()?;
        if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            let ends = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
            return Some(Self { length, ends });
        }
        if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            let ends = (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into());
            return Some(Self { length, ends });
        }
        let all = bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
        Some(Self { length, ends: (all, 0) })
    }
}
