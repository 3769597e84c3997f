//! Randomness that spreads work over time, as a parameter.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::rand;

/// The source of randomness: returns numbers from 0 to 1.
#[derive(Clone)]
pub struct Jitter(Arc<dyn Fn() -> f64 + Send + Sync>);

impl Jitter {
    /// Uses the randomness of the operating system.
    pub fn system() -> Self {
        Self::new(|| {
            let mut bytes = [0; 4];
            // Without randomness there is no jitter, and the work goes on.
            let _ = rand::fill(&mut bytes);
            f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX)
        })
    }

    /// Uses `numbers`, each from 0 to 1.
    pub fn new(numbers: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(numbers))
    }

    /// Returns the next number.
    pub fn next(&self) -> f64 {
        (self.0)()
    }
}

impl fmt::Debug for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jitter")
    }
}
