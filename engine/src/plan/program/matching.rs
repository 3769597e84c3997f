//! The pattern tests of a program, and what they may cost in one run (`docs/semantics.md`, section 4.8).
//!
//! A test that could cost more than a whole decision may is undetermined. The other tests are counted in the order in
//! which their policies decide, and from the first that does not fit, all are undetermined. This depends on the plan and
//! on the texts alone, never on the order of evaluation: the decision and its explanation agree.

use std::sync::Arc;

use hashbrown::HashMap;
use smallvec::{SmallVec, smallvec};

use crate::pattern::{Automaton, MAX_MATCH_STEPS, PatternCompiler};
use crate::plan::slots::{Slot, SlotValue};
use crate::value::AttributeValue;

/// The pattern tests of a program, in the order in which their policies decide.
#[derive(Debug, Default)]
pub(super) struct PatternTests {
    tests: Box<[PatternTest]>,
    /// The steps for one byte of each text, over all its tests.
    by_text: Box<[(Text, u64)]>,
    /// The heap bytes of the automata. Tests of several attributes share one.
    automata_weight: usize,
    /// The maximum number of steps of all matches of one run.
    budget: u64,
}

/// The test of a text by a pattern.
#[derive(Debug)]
pub(super) struct PatternTest {
    text: Text,
    /// `None` if the pattern is over the budget of its policy or plan.
    automaton: Option<Arc<Automaton>>,
}

/// The text that a pattern test matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Text {
    /// The value of an attribute.
    Value(Slot),
    /// All items of a list.
    Items(Slot),
    /// The value of the first attribute, once for each item of the second.
    ForItems(Slot, Slot),
}

/// The bytes of texts that were counted.
type TextBytes = HashMap<Text, usize>;

/// The place of the first test that is over the budget, where none is.
const NONE_IS_OVER: u32 = u32::MAX;

/// The results of the pattern tests of one run. Each test runs at most once.
#[derive(Clone, Debug)]
pub(super) struct PatternResults {
    /// The number of the first test that is over the budget of the decision, or [`NONE_IS_OVER`].
    first_over: u32,
    /// Two bits for each test: whether it has run, and whether the text matched; the second alone says that the test is
    /// over a budget. A plan with more than 256 tests costs one allocation per check.
    bits: SmallVec<[u64; 8]>,
}

impl PatternTests {
    /// Counts these tests, whose patterns `compiler` has compiled.
    pub(super) fn new(tests: Vec<PatternTest>, compiler: &PatternCompiler) -> Self {
        let mut by_text: Vec<(Text, u64)> =
            tests.iter().map(|test| (test.text, test.steps(0))).collect();
        by_text.sort_unstable_by_key(|(text, _)| *text);
        by_text.dedup_by(|(text, steps), (kept, sum)| {
            let same = text == kept;
            if same {
                *sum += *steps;
            }
            same
        });
        Self {
            tests: tests.into(),
            by_text: by_text.into(),
            automata_weight: compiler.weight(),
            budget: MAX_MATCH_STEPS,
        }
    }

    /// Returns the results of a run that begins.
    pub(super) fn begin(&self, values: &[SlotValue<'_>]) -> PatternResults {
        PatternResults {
            first_over: if self.affords(values) { NONE_IS_OVER } else { self.first_over(values) },
            bits: smallvec![0; self.tests.len().div_ceil(TESTS_PER_WORD)],
        }
    }

    /// Returns whether the steps of all tests fit into one run.
    pub(super) fn affords(&self, values: &[SlotValue<'_>]) -> bool {
        let all = self.by_text.iter().fold(0u64, |sum, (text, steps)| {
            // A match also visits the end of the text, as `Automaton::steps` counts it.
            sum.saturating_add(steps.saturating_mul(text.bytes(values) as u64 + 1))
        });
        all <= self.budget
    }

    /// Returns the number of the first test that does not fit into the budget with those before it.
    fn first_over(&self, values: &[SlotValue<'_>]) -> u32 {
        let (mut left, mut bytes) = (self.budget, TextBytes::new());
        let over = self.tests.iter().position(|test| {
            let steps = test.steps_on(values, &mut bytes);
            // This test is undetermined by itself.
            if steps > self.budget {
                return false;
            }
            let fits = steps <= left;
            left = left.saturating_sub(steps);
            !fits
        });
        // Not `NONE_IS_OVER`: a test may still be over the budget by itself, which `begin_for_item` looks at.
        over.and_then(|over| u32::try_from(over).ok()).unwrap_or(self.len())
    }

    /// Returns whether `text`, the value of the test's attribute, matches. `None` if the test is over a budget.
    pub(super) fn matches(
        &self,
        number: u32,
        text: &str,
        results: &mut PatternResults,
    ) -> Option<bool> {
        let automaton = self.tests[number as usize].automaton.as_ref()?;
        // A test that is over the budget by itself is not counted, so `first_over` says nothing of it.
        if number >= results.first_over || automaton.steps(text.len()) > self.budget {
            return None;
        }
        if let Some(known) = results.get(number) {
            return known;
        }
        let found = automaton.matches(text);
        results.set(number, found);
        Some(found)
    }

    /// Returns the results of a run for an item, whose tests are these `count` from `first` on. `results` are those of the
    /// run that asks about the items.
    pub(super) fn begin_for_item(
        &self,
        results: &PatternResults,
        (first, count): (u32, u32),
        values: &[SlotValue<'_>],
    ) -> PatternResults {
        let bits = smallvec![0; (count as usize).div_ceil(TESTS_PER_WORD)];
        let mut own = PatternResults { first_over: NONE_IS_OVER, bits };
        if results.first_over == NONE_IS_OVER {
            return own;
        }
        let mut bytes = TextBytes::new();
        for number in 0..count {
            let test = &self.tests[(first + number) as usize];
            let is_over = test.steps_on(values, &mut bytes) > self.budget;
            if is_over || first + number >= results.first_over {
                own.set_over(number);
            }
        }
        own
    }

    /// Returns the tests of a condition on the items of `list`, as the plan counts them. `outer` returns the slot of an
    /// attribute in the plan; `None` for the item.
    pub(super) fn for_items(
        &self,
        list: Slot,
        outer: impl Fn(Slot) -> Option<Slot>,
    ) -> impl Iterator<Item = PatternTest> {
        self.tests.iter().map(move |test| {
            let text = match test.text {
                Text::Value(own) => {
                    outer(own).map_or(Text::Items(list), |outer| Text::ForItems(outer, list))
                }
                other => other,
            };
            PatternTest { text, automaton: test.automaton.clone() }
        })
    }

    /// Returns the number of tests.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.tests.len()).unwrap_or(u32::MAX)
    }

    /// Leaves the automata to another program, which counts their bytes.
    pub(super) fn share_automata(&mut self) {
        self.automata_weight = 0;
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
            + size_of_val::<[(Text, u64)]>(&self.by_text)
            + self.automata_weight
    }
}

impl PatternTest {
    /// Makes the test of an attribute; `None` stands for a pattern that is over a budget.
    pub(super) fn new(slot: Slot, automaton: Option<Arc<Automaton>>) -> Self {
        Self { text: Text::Value(slot), automaton }
    }

    /// Returns the steps on these values. `bytes` keeps what was counted: many tests match one long list.
    fn steps_on(&self, values: &[SlotValue<'_>], bytes: &mut TextBytes) -> u64 {
        self.steps(*bytes.entry(self.text).or_insert_with(|| self.text.bytes(values)))
    }

    fn steps(&self, bytes: usize) -> u64 {
        self.automaton.as_ref().map_or(0, |automaton| automaton.steps(bytes))
    }
}

const TESTS_PER_WORD: usize = 32;

impl PatternResults {
    /// Returns the result of a test, which is `None` if it is over a budget; `None` if the test has not run.
    fn get(&self, number: u32) -> Option<Option<bool>> {
        let (word, shift) = place(number);
        match self.bits[word] >> shift & 0b11 {
            0b00 => None,
            0b10 => Some(None),
            ran => Some(Some(ran == 0b11)),
        }
    }

    fn set_over(&mut self, number: u32) {
        let (word, shift) = place(number);
        self.bits[word] |= 0b10 << shift;
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

impl Text {
    /// Returns the number of bytes that are matched. Only texts are.
    fn bytes(self, values: &[SlotValue<'_>]) -> usize {
        let value = |slot: Slot| values[slot as usize].value;
        match self {
            Self::Value(slot) => value(slot).map_or(0, bytes),
            Self::Items(list) => match value(list) {
                Some(AttributeValue::List(items)) => {
                    let mut sum = 0;
                    items.for_each(|item| sum += bytes(item));
                    sum
                }
                _ => 0,
            },
            Self::ForItems(slot, list) => match value(list) {
                Some(AttributeValue::List(items)) => {
                    value(slot).map_or(0, bytes).saturating_mul(items.len())
                }
                _ => 0,
            },
        }
    }
}

/// Returns the length of a text; zero for any other value.
fn bytes(value: AttributeValue<'_>) -> usize {
    if let AttributeValue::Text(text) = value { text.len() } else { 0 }
}
