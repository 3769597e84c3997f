//! Compiled patterns.

use std::cell::RefCell;
use std::fmt;

use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
use regex_automata::nfa::thompson::{NFA, State};

/// The maximum number of steps that the matches of one decision can take together. The slowest known pattern takes
/// about 13 ns for each step, so that this bounds the time to about 110 ms.
pub(crate) const MAX_MATCH_STEPS: u64 = 1 << 23;

/// The memory for the fast search of short texts, in bytes. One bit stands for one state at one place of the text.
const SHORT_SEARCH_BYTES: usize = 4 * 1024;

/// A compiled pattern. A match takes time in proportion to its states and to the length of the text, and no memory
/// but `SCRATCH`.
///
/// `regex_automata::meta` builds a deterministic automaton while it searches. A text of 30 bytes takes it 0.03 µs
/// instead of 0.1 µs, and a long text a tenth of the time. But it takes several times as long to compile, and keeps
/// up to 2 MiB for each pattern and thread.
#[derive(Clone)]
pub struct Automaton {
    /// Serves texts of at most `longest_short` bytes.
    short: BoundedBacktracker,
    longest_short: usize,
    /// Serves texts of any length.
    long: PikeVM,
    /// The maximum number of steps for one byte of a text.
    steps: u64,
}

thread_local! {
    /// The memory that searches of this thread share: at most about 2 MiB, for the largest automaton.
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch { short: None, long: None }) };
}

struct Scratch {
    short: Option<backtrack::Cache>,
    long: Option<pikevm::Cache>,
}

impl Automaton {
    /// Makes both searches of one automaton. `None` if it needs data of Unicode that is left out of this build.
    pub(super) fn new(nfa: NFA) -> Option<Self> {
        let steps = nfa.states().iter().map(steps).sum();
        let config = backtrack::Config::new().visited_capacity(SHORT_SEARCH_BYTES);
        let short = backtrack::Builder::new().configure(config).build_from_nfa(nfa.clone()).ok()?;
        let long = pikevm::Builder::new().build_from_nfa(nfa).ok()?;
        Some(Self { longest_short: short.max_haystack_len(), short, long, steps })
    }

    /// Returns the maximum number of steps that a match of a text with this number of bytes takes.
    pub(crate) fn steps(&self, bytes: usize) -> u64 {
        // A search also visits the end of the text.
        self.steps.saturating_mul(bytes as u64 + 1)
    }

    /// Returns whether `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        SCRATCH.with_borrow_mut(|scratch| {
            if text.len() <= self.longest_short {
                let cache = scratch.short.get_or_insert_with(|| self.short.create_cache());
                // The memory may have served another automaton.
                cache.reset(&self.short);
                // Only a text that is too long is an error, and the length was compared above.
                if let Ok(found) = self.short.try_is_match(cache, text) {
                    return found;
                }
            }
            let cache = scratch.long.get_or_insert_with(|| self.long.create_cache());
            cache.reset(&self.long);
            self.long.is_match(cache, text)
        })
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Self>() + self.long.get_nfa().memory_usage()
    }
}

/// Returns the maximum number of steps that a search takes in this state for one byte. Searching four transitions
/// takes about as long as entering a state.
fn steps(state: &State) -> u64 {
    let followed = match state {
        State::Sparse(sparse) => sparse.transitions.len() / 4,
        State::Union { alternates } => alternates.len() / 4,
        _ => 0,
    };
    1 + followed as u64
}

impl fmt::Debug for Automaton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Automaton({} steps)", self.steps)
    }
}
