//! The source of a generator's choices: a seed in the tests, the fuzzer's bytes in a fuzz target.

/// A source of choices.
pub(crate) trait Choices {
    /// Returns a number below `bound`, which is at least 1.
    fn below(&mut self, bound: usize) -> usize;

    /// Returns any 64 bits.
    fn bits(&mut self) -> u64;

    /// Returns true in this percentage of cases.
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the items.
    fn pick<T: Clone>(&mut self, pool: &[T]) -> T {
        pool[self.below(pool.len())].clone()
    }

    /// Returns a number below `bound`. If `skewed`, small numbers are much more frequent.
    fn ranked(&mut self, bound: usize, skewed: bool) -> usize {
        let rank = self.below(bound);
        if skewed { self.below(rank + 1) } else { rank }
    }
}

/// SplitMix64: every seed has its own endless sequence.
pub(crate) struct Seeded(pub(crate) u64);

impl Choices for Seeded {
    fn below(&mut self, bound: usize) -> usize {
        // The bias of the remainder is too small for any test to notice.
        (self.bits() % bound as u64) as usize
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
