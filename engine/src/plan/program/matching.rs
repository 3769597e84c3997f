//! The pattern tests of a program, and what they may cost in one run (`docs/semantics.md`, section 4.5).
//!
//! A test that could cost more than a whole decision may is undetermined. The other tests are counted in the order in
//! which their policies decide, and from the first that does not fit, all are undetermined. This depends on the plan and
//! on the texts alone, never on the order of evaluation: the decision and its explanation agree.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::nodes::Operation;
use crate::condition::Predicate;
use crate::pattern::{Automaton, MAX_MATCH_STEPS, PatternCompiler};
use crate::plan::slots::{Slot, SlotValue};
use crate::value::AttributeValue;

/// The pattern tests of a program, in the order in which their policies decide.
#[derive(Debug, Default)]
pub(super) struct PatternTests {
    tests: Box<[PatternTest]>,
    /// The steps for one byte of each attribute, over all its tests.
    by_slot: Box<[(Slot, u64)]>,
    /// The heap bytes of the automata. Tests of several attributes share one.
    automata_weight: usize,
    /// The maximum number of steps of all matches of one run.
    budget: u64,
}

#[derive(Debug)]
struct PatternTest {
    slot: Slot,
    /// `None` if the pattern is over the budget of its policy or plan.
    automaton: Option<Arc<Automaton>>,
}

/// The results of the pattern tests of one run. Each test runs at most once.
#[derive(Debug)]
pub(super) struct PatternResults {
    /// The number of the first test that is over the budget of the decision.
    first_over: u32,
    /// Two bits for each test: whether it has run, and whether the text matched. A plan with more than 256 tests costs
    /// one allocation per check.
    bits: SmallVec<[u64; 8]>,
}

impl PatternTests {
    /// Collects the pattern tests among `nodes`, whose patterns `compiler` has compiled.
    pub(super) fn new(nodes: &[Operation], compiler: &PatternCompiler) -> Self {
        let tests: Box<[PatternTest]> = nodes
            .iter()
            .filter_map(|node| match node {
                Operation::Test(test) => match &test.predicate {
                    Predicate::Matches(pattern) => Some(PatternTest {
                        slot: test.attribute,
                        automaton: compiler.compiled(pattern).cloned(),
                    }),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        let mut by_slot: Vec<(Slot, u64)> =
            tests.iter().map(|test| (test.slot, test.steps(0))).collect();
        by_slot.sort_unstable_by_key(|(slot, _)| *slot);
        by_slot.dedup_by(|(slot, steps), (kept, sum)| {
            let same = slot == kept;
            if same {
                *sum += *steps;
            }
            same
        });
        Self {
            tests,
            by_slot: by_slot.into(),
            automata_weight: compiler.weight(),
            budget: MAX_MATCH_STEPS,
        }
    }

    /// Returns the results of a run that begins.
    pub(super) fn begin(&self, values: &[SlotValue<'_>]) -> PatternResults {
        let first_over =
            if self.affords(values) { self.tests.len() } else { self.first_over(values) };
        PatternResults {
            first_over: u32::try_from(first_over).unwrap_or(u32::MAX),
            bits: smallvec![0; self.tests.len().div_ceil(TESTS_PER_WORD)],
        }
    }

    /// Returns whether the steps of all tests fit into one run.
    pub(super) fn affords(&self, values: &[SlotValue<'_>]) -> bool {
        let all = self.by_slot.iter().fold(0u64, |sum, (slot, steps)| {
            sum.saturating_add(steps.saturating_mul(bytes(values, *slot) as u64 + 1))
        });
        all <= self.budget
    }

    /// Returns the number of the first test that does not fit into the budget with those before it.
    fn first_over(&self, values: &[SlotValue<'_>]) -> usize {
        let mut left = self.budget;
        let over = self.tests.iter().position(|test| {
            let steps = test.steps(bytes(values, test.slot));
            // This test is undetermined by itself.
            if steps > self.budget {
                return false;
            }
            let fits = steps <= left;
            left = left.saturating_sub(steps);
            !fits
        });
        over.unwrap_or(self.tests.len())
    }

    /// Returns whether `text`, the value of the test's attribute, matches. `None` if the test is over a budget.
    pub(super) fn matches(
        &self,
        number: u32,
        text: &str,
        results: &mut PatternResults,
    ) -> Option<bool> {
        let automaton = self.tests[number as usize].automaton.as_ref()?;
        if number >= results.first_over || automaton.steps(text.len()) > self.budget {
            return None;
        }
        if let Some(known) = results.get(number) {
            return Some(known);
        }
        let found = automaton.matches(text);
        results.set(number, found);
        Some(found)
    }

    /// Returns whether the program tests no pattern.
    pub(super) fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Switches the budget off.
    #[cfg(test)]
    pub(super) fn without_budget(&mut self) {
        self.budget = u64::MAX;
    }

    /// Returns whether the pattern of the test is compiled.
    pub(super) fn is_compiled(&self, number: u32) -> bool {
        self.tests[number as usize].automaton.is_some()
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
        size_of_val::<[PatternTest]>(&self.tests)
            + size_of_val::<[(Slot, u64)]>(&self.by_slot)
            + self.automata_weight
    }
}

impl PatternTest {
    fn steps(&self, bytes: usize) -> u64 {
        self.automaton.as_ref().map_or(0, |automaton| automaton.steps(bytes))
    }
}

const TESTS_PER_WORD: usize = 32;

impl PatternResults {
    fn get(&self, number: u32) -> Option<bool> {
        let (word, shift) = place(number);
        let bits = self.bits[word] >> shift;
        (bits & 1 != 0).then_some(bits & 2 != 0)
    }

    fn set(&mut self, number: u32, found: bool) {
        let (word, shift) = place(number);
        self.bits[word] |= (1 | u64::from(found) << 1) << shift;
    }
}

/// Returns the word of a test, and the position of its bits.
fn place(number: u32) -> (usize, usize) {
    let number = number as usize;
    (number / TESTS_PER_WORD, 2 * (number % TESTS_PER_WORD))
}

/// Returns the length of an attribute that is a text. No other value is matched.
fn bytes(values: &[SlotValue<'_>], slot: Slot) -> usize {
    match values[slot as usize].value {
        Some(AttributeValue::Text(text)) => text.len(),
        _ => 0,
    }
}
