//! The text of a condition from a file or a stream: whole or not at all.

use std::io::Read;

use anyhow::{Context, ensure};

/// The longest text, in MiB: a condition in indented JSON.
const MAX_MIB: usize = 4;

/// Reads the text of a condition. `name` says where it is from.
///
/// # Errors
/// It cannot be read, has more than 4 MiB, or is not UTF-8.
pub(crate) fn read(input: impl Read, name: &str) -> anyhow::Result<String> {
    let (max, mut bytes) = (MAX_MIB << 20, Vec::new());
    // One byte more tells a text that is too long.
    let read = input.take(max as u64 + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("{name}: cannot be read"))?;
    ensure!(bytes.len() <= max, "{name}: expected at most {MAX_MIB} MiB");
    String::from_utf8(bytes).with_context(|| format!("{name}: cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_whole_or_not_at_all() {
        let text = "a".repeat(MAX_MIB << 20);
        assert_eq!(read(text.as_bytes(), "x").expect("it fits").len(), text.len());
        let longer = format!("{text}a");
        let error = read(longer.as_bytes(), "x").expect_err("it is too long").to_string();
        assert_eq!(error, "x: expected at most 4 MiB");
    }
}
