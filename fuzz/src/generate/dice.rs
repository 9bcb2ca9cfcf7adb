//! Where does chance come from?

/// A splitmix64 generator: neighbouring seeds give unrelated rolls.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Begins at a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Rolls a number from 0 up to, and without, the end.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let roll = u128::from(self.roll()) % (end as u128);
        usize::try_from(roll).expect("below a usize")
    }

    /// Holds in so many of a hundred rolls.
    pub(crate) fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// Picks one of a list that is not empty.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Rolls a byte.
    pub(crate) fn byte(&mut self) -> u8 {
        self.roll().to_le_bytes()[0]
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut roll = self.0;
        roll = (roll ^ (roll >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        roll = (roll ^ (roll >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        roll ^ (roll >> 31)
    }
}
