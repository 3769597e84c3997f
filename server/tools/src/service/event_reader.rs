//! Server-sent events (WHATWG HTML, section 9.2), as the service sends them: each with its data in one line.

/// The beginning of the line with the data of an event.
const DATA: &[u8] = b"data:";
/// The most bytes of a line. The service sends a report of some 200 KiB.
const MAX_LINE: usize = 8 << 20;

/// Reads events from the pieces of an answer.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    /// The begin of a line whose end is not there yet.
    line: Vec<u8>,
}

impl EventReader {
    /// Passes the data of each event that ends in `piece` to `take`. A line that is too long is cut.
    pub(super) fn add(&mut self, piece: &[u8], mut take: impl FnMut(&[u8])) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if !part.ends_with(b"\n") {
                continue;
            }
            if let Some(data) = self.line.strip_prefix(DATA) {
                // This removes the space after the colon, and the carriage return of a CRLF.
                take(data.trim_ascii());
            }
            self.line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_wherever_the_answer_is_cut() {
        let answer = b": begin\n\ndata: {\"a\": 1}\n\nevent: more\ndata:{}\r\n\ndata: cut";
        for size in 1..answer.len() {
            let (mut reader, mut found) = (EventReader::default(), Vec::new());
            for piece in answer.chunks(size) {
                reader.add(piece, |data| found.push(data.to_vec()));
            }
            assert_eq!(found, [&b"{\"a\": 1}"[..], b"{}"], "{size}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let mut reader = EventReader::default();
        for _ in 0..3 {
            reader.add(&vec![b'x'; MAX_LINE / 2 + 1], |_| panic!("no event"));
        }
        assert_eq!(reader.line.len(), MAX_LINE);
    }
}
