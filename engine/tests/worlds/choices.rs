//! Where the choices of a generator come from: a seed in the tests, the fuzzer's bytes in a fuzz target.

/// A source of choices.
pub(crate) trait Choices {
    /// A number below `bound`, which is at least 1.
    fn below(&mut self, bound: usize) -> usize;

    /// Any 64 bits.
    fn bits(&mut self) -> u64;

    /// True in so many of a hundred cases.
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items.
    fn pick<T: Clone>(&mut self, pool: &[T]) -> T {
        pool[self.below(pool.len())].clone()
    }

    /// A number below `bound`; where `skewed`, small ones are much more frequent.
    fn ranked(&mut self, bound: usize, skewed: bool) -> usize {
        let rank = self.below(bound);
        if skewed { self.below(rank + 1) } else { rank }
    }
}

/// SplitMix64: every seed gives its own endless sequence.
pub(crate) struct Seeded(pub(crate) u64);

impl Choices for Seeded {
    fn below(&mut self, bound: usize) -> usize {
        // What the remainder favours is beyond what any test could see.
        (self.bits() % bound as u64) as usize
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
