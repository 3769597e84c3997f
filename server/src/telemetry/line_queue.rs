//! Log lines that wait for their writer, so that a reader who is slow or gone holds nobody up.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

/// The target of lines that no filter of the operator hides: panics, and lines that are lost.
pub(super) const SHOWN: &str = "portcullis::log";
/// Most bytes of the lines that wait. A reader that pauses for a moment loses nothing.
const MOST_WAITING: usize = 1 << 20;
/// Most bytes of the lines that wait when a line says how many were dropped: it finds room itself.
const HAS_ROOM: usize = MOST_WAITING / 2;

/// Log lines that wait for a thread that writes them. Lines that find no room are dropped and counted.
pub(crate) struct LineQueue {
    waiting: Mutex<Waiting>,
    /// Notified when a line arrives.
    arrived: Condvar,
    /// Notified when no line waits.
    written: Condvar,
}

struct Waiting {
    lines: VecDeque<Vec<u8>>,
    /// The bytes of the lines.
    bytes: usize,
    /// The lines that found no room since the log last said so.
    dropped: u64,
    /// Whether a thread writes the lines.
    has_writer: bool,
    /// Whether that thread writes a line now.
    is_writing: bool,
}

impl LineQueue {
    /// Returns an empty queue without a writer.
    pub(crate) const fn new() -> Self {
        let waiting = Waiting {
            lines: VecDeque::new(),
            bytes: 0,
            dropped: 0,
            has_writer: false,
            is_writing: false,
        };
        Self { waiting: Mutex::new(waiting), arrived: Condvar::new(), written: Condvar::new() }
    }

    /// Starts the thread that writes the lines to `place`. A place that does not take them loses them.
    pub(crate) fn write_to(&'static self, mut place: impl Write + Send + 'static) {
        let writer = std::thread::Builder::new().name("log".to_owned()).spawn(move || {
            loop {
                let (line, dropped) = self.next();
                let _ = place.write_all(&line).and_then(|()| place.flush());
                // The line is in the queue before anybody can think that no line waits.
                if dropped > 0 {
                    tracing::warn!(
                        target: SHOWN,
                        dropped,
                        "log lines were dropped, because nobody read them in time"
                    );
                }
                self.end_write();
            }
        });
        self.waiting.lock().has_writer = writer.is_ok();
    }

    /// Waits for the next line, and returns it with the number of lines that were dropped before it, if there is room to say so.
    fn next(&self) -> (Vec<u8>, u64) {
        let mut waiting = self.waiting.lock();
        loop {
            if let Some(line) = waiting.lines.pop_front() {
                waiting.bytes -= line.len();
                waiting.is_writing = true;
                let has_room = waiting.bytes <= HAS_ROOM;
                let dropped = if has_room { std::mem::take(&mut waiting.dropped) } else { 0 };
                return (line, dropped);
            }
            self.arrived.wait(&mut waiting);
        }
    }

    fn end_write(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_writing = false;
        if waiting.lines.is_empty() {
            self.written.notify_all();
        }
    }

    /// Waits for at most `limit` until every line is written. Returns whether it is.
    pub(crate) fn flush(&self, limit: Duration) -> bool {
        let mut waiting: MutexGuard<'_, Waiting> = self.waiting.lock();
        !self.written.wait_while_for(&mut waiting, |waiting| waiting.is_busy(), limit).timed_out()
    }
}

impl Waiting {
    /// Returns whether a line is still to be written, by somebody who writes.
    fn is_busy(&self) -> bool {
        self.has_writer && (self.is_writing || !self.lines.is_empty())
    }
}

impl Write for &LineQueue {
    /// Takes a whole line, or drops it. Never waits and never fails.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.waiting.lock();
        if waiting.bytes + line.len() > MOST_WAITING {
            waiting.dropped += 1;
        } else {
            waiting.bytes += line.len();
            waiting.lines.push_back(line.to_vec());
            self.arrived.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A place that takes lines only while the test has not locked it.
    #[derive(Clone, Default)]
    struct Place(Arc<Mutex<Vec<u8>>>);

    impl Write for Place {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(data);
            Ok(data.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A place that is closed.
    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    fn queue() -> &'static LineQueue {
        Box::leak(Box::new(LineQueue::new()))
    }

    fn say(mut queue: &LineQueue, line: &[u8]) {
        queue.write_all(line).expect("a queue takes or drops each line");
    }

    #[test]
    fn lines_are_written_in_their_order() {
        let (queue, place) = (queue(), Place::default());
        queue.write_to(place.clone());
        (0..100).for_each(|number| say(queue, format!("{number}\n").as_bytes()));
        assert!(queue.flush(Duration::from_secs(60)));
        let expected: String = (0..100).map(|number| format!("{number}\n")).collect();
        assert_eq!(*place.0.lock(), expected.as_bytes());
    }

    #[test]
    fn a_reader_that_does_not_read_costs_bounded_memory_and_no_wait() {
        let (queue, place) = (queue(), Place::default());
        let held = place.0.lock();
        queue.write_to(place.clone());
        say(queue, b"first\n");
        while !queue.waiting.lock().is_writing {
            std::thread::yield_now();
        }
        let line = vec![b'x'; 1_024];
        (0..5_000).for_each(|_| say(queue, &line));
        assert!(!queue.flush(Duration::from_millis(1)), "the reader takes nothing");
        {
            let waiting = queue.waiting.lock();
            assert!(waiting.bytes <= MOST_WAITING, "{}", waiting.bytes);
            assert_eq!(waiting.dropped, 5_000 - 1_024);
        }
        drop(held);
        assert!(queue.flush(Duration::from_secs(60)));
        assert_eq!(queue.waiting.lock().dropped, 0, "the log says how many are lost");
    }

    #[test]
    fn the_number_of_dropped_lines_waits_for_room() {
        let queue = queue();
        let line = vec![b'x'; MOST_WAITING / 4];
        (0..6).for_each(|_| say(queue, &line));
        let dropped: Vec<_> = (0..4).map(|_| queue.next().1).collect();
        assert_eq!(dropped, [0, 2, 0, 0]);
    }

    #[test]
    fn a_closed_place_loses_lines_and_nothing_else() {
        let queue = queue();
        queue.write_to(Closed);
        (0..1_000).for_each(|_| say(queue, b"line\n"));
        assert!(queue.flush(Duration::from_secs(60)));
    }

    #[test]
    fn without_a_writer_nobody_waits() {
        let queue = queue();
        say(queue, b"line\n");
        assert!(queue.flush(Duration::from_secs(60)));
    }
}
