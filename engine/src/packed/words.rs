//! Words: a tag and a number in 32 bits.

/// No table has as many texts, numbers, or words of lists as this: a number shares its word with a tag.
pub(crate) const MAX_NUMBER: u32 = 1 << NUMBER_BITS;
const NUMBER_BITS: u32 = 29;

/// A value in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Word(pub(crate) u32);

/// The parts of a [`Word`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unpacked {
    /// The number of a text.
    Text(u32),
    /// The index of a number.
    Number(u32),
    Bool(bool),
    /// The place of a list.
    List(u32),
    /// A value that no operator compares.
    Opaque,
}

impl Word {
    pub(crate) fn pack(value: Unpacked) -> Self {
        let (tag, number) = match value {
            Unpacked::Text(id) => (0, id),
            Unpacked::Number(index) => (1, index),
            Unpacked::Bool(value) => (2, u32::from(value)),
            Unpacked::List(place) => (3, place),
            Unpacked::Opaque => (4, 0),
        };
        Self(tag << NUMBER_BITS | number)
    }

    /// Returns the word of a boolean.
    pub(crate) fn from_bool(value: bool) -> Self {
        Self::pack(Unpacked::Bool(value))
    }

    #[inline]
    pub(crate) fn unpack(self) -> Unpacked {
        let number = self.0 & (MAX_NUMBER - 1);
        match self.0 >> NUMBER_BITS {
            0 => Unpacked::Text(number),
            1 => Unpacked::Number(number),
            2 => Unpacked::Bool(number != 0),
            3 => Unpacked::List(number),
            _ => Unpacked::Opaque,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_value_keeps_its_parts() {
        for value in [
            Unpacked::Text(0),
            Unpacked::Text(MAX_NUMBER - 1),
            Unpacked::Number(7),
            Unpacked::Bool(false),
            Unpacked::Bool(true),
            Unpacked::List(MAX_NUMBER - 1),
            Unpacked::Opaque,
        ] {
            assert_eq!(Word::pack(value).unpack(), value);
        }
    }
}
