//! The measured scenarios, and the bars.

use crate::load::Protocol;
use crate::tokens::Algorithm;

/// Turns of each alternative. A value is the median of the turns, a ratio the median of the ratios.
pub(crate) const TURNS: usize = 5;
/// Milliseconds of one turn.
pub(crate) const TURN: u64 = 2_000;
/// Milliseconds before the first turn.
pub(crate) const WARM_UP: u64 = 500;
/// The route of checks.
pub(crate) const PATH: &str = "/api/v1/check";
/// Requests of a scenario with tokens that were never seen before, in each turn.
pub(crate) const NEW_TOKENS: usize = 4_000;
/// Most CPU per request of the server, as a multiple of the echo.
pub(crate) const MAX_CPU: f64 = 1.3;
/// Least throughput of the server, as a part of that of the echo.
pub(crate) const LEAST_THROUGHPUT: f64 = 0.8;
/// Most microseconds of CPU for a new token beyond an echo that verifies a signature.
pub(crate) const MAX_FOR_NEW: f64 = 5.0;

/// The tokens of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tokens {
    /// 1,000 tokens of 100 tenants in turn.
    Many,
    /// One token again and again.
    One,
    /// Tokens that were never seen before.
    New,
}

/// The work of the server beside the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    Nothing,
    /// It records its decisions.
    Record,
    /// It decides each check by a draft in shadow, too.
    Shadow,
}

/// One kind of load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(crate) algorithm: Algorithm,
    pub(crate) tokens: Tokens,
    pub(crate) protocol: Protocol,
    pub(crate) beside: Beside,
}

impl Scenario {
    /// Returns every scenario.
    pub(crate) fn all() -> Vec<Self> {
        let single = Protocol::Http1 { pipelined: 1 };
        let mut all = Vec::new();
        for algorithm in [Algorithm::Rs256, Algorithm::Es256] {
            for tokens in [Tokens::Many, Tokens::One, Tokens::New] {
                all.push(Self { algorithm, tokens, protocol: single, beside: Beside::Nothing });
            }
        }
        let many = Self {
            algorithm: Algorithm::Rs256,
            tokens: Tokens::Many,
            protocol: single,
            beside: Beside::Record,
        };
        for protocol in [Protocol::Http1 { pipelined: 16 }, Protocol::Http2] {
            all.push(Self { protocol, beside: Beside::Nothing, ..many });
        }
        for beside in [Beside::Record, Beside::Shadow] {
            all.extend([Self { beside, ..many }, Self { tokens: Tokens::One, beside, ..many }]);
        }
        all
    }

    pub(crate) fn name(&self) -> String {
        let tokens = match self.tokens {
            Tokens::Many => "1,000 tokens",
            Tokens::One => "one token",
            Tokens::New => "new tokens",
        };
        let protocol = match self.protocol {
            Protocol::Http1 { pipelined: 1 } => String::new(),
            Protocol::Http1 { pipelined } => format!(", {pipelined} pipelined"),
            Protocol::Http2 => ", HTTP/2".to_owned(),
        };
        let beside = match self.beside {
            Beside::Nothing => "",
            Beside::Record => ", recorded",
            Beside::Shadow => ", in shadow",
        };
        format!("{} {tokens}{protocol}{beside}", self.algorithm.name())
    }
}
