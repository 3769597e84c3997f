//! A circuit breaker: it stops calls of a resolver that keeps failing, for a while. The time, since any instant, is a
//! parameter.

use std::time::Duration;

/// Failures in a row that open the breaker.
const IN_A_ROW: u32 = 5;
/// Remembered calls. The breaker opens too if half of them failed.
const REMEMBERED: u32 = 20;
/// The first pause. A source that restarts takes about as long.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
/// The longest that it is open: so late a recovery may be noticed.
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// Decides which calls are made.
#[derive(Debug)]
pub(crate) struct Breaker {
    state: CircuitState,
    /// The pause of the next time that it opens, unless it closes before.
    pause: Duration,
    /// Raised by each change of the state, so that the end of an earlier call does not count.
    period: u64,
    in_a_row: u32,
    /// The last calls, one bit each, the latest lowest; set is failed.
    calls: u32,
    known_calls: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum CircuitState {
    Closed,
    /// No call before this moment; then probes, one at a time.
    Open {
        until: Duration,
        probing: bool,
    },
}

/// The state of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreakerState {
    /// It lets them through.
    Closed,
    /// It refuses them, for so long.
    Open(Duration),
    /// It lets one through to see how it goes.
    HalfOpen,
}

/// Permission for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    period: u64,
}

/// The end of a call, as far as the breaker is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Answer,
    Failure,
    /// The host failed, or the call was given up: it does not count.
    Nothing,
}

impl Breaker {
    pub(crate) fn new() -> Self {
        Self {
            state: CircuitState::Closed,
            pause: FIRST_PAUSE,
            period: 0,
            in_a_row: 0,
            calls: 0,
            known_calls: 0,
        }
    }

    /// Permits a call at `now`, or says for how long none is permitted; zero while a probe is under way.
    pub(crate) fn admit(&mut self, now: Duration) -> Result<Turn, Duration> {
        if let CircuitState::Open { until, probing } = &mut self.state {
            if *probing || now < *until {
                return Err(until.saturating_sub(now));
            }
            *probing = true;
        }
        Ok(Turn { period: self.period })
    }

    /// Records the end of a call. Returns whether it opened the breaker.
    pub(crate) fn settle(&mut self, turn: Turn, end: End, now: Duration) -> bool {
        // The breaker opened or closed during the call.
        if turn.period != self.period {
            return false;
        }
        match (self.state, end) {
            (CircuitState::Closed, End::Nothing) => false,
            (CircuitState::Closed, end) => {
                self.remember(end == End::Failure);
                let opens = end == End::Failure && self.is_bad();
                if opens {
                    self.open(now);
                }
                opens
            }
            (CircuitState::Open { until, .. }, End::Nothing) => {
                // The probe says nothing, so that the next call is the probe.
                self.state = CircuitState::Open { until, probing: false };
                false
            }
            (CircuitState::Open { .. }, End::Answer) => {
                // It counts on: at 0, a call from before could count again.
                *self = Self { period: self.period + 1, ..Self::new() };
                false
            }
            (CircuitState::Open { .. }, End::Failure) => {
                self.open(now);
                true
            }
        }
    }

    /// Returns the state at `now`.
    pub(crate) fn state(&self, now: Duration) -> BreakerState {
        match self.state {
            CircuitState::Closed => BreakerState::Closed,
            CircuitState::Open { until, .. } if now < until => BreakerState::Open(until - now),
            CircuitState::Open { .. } => BreakerState::HalfOpen,
        }
    }

    fn remember(&mut self, failed: bool) {
        self.in_a_row = if failed { self.in_a_row + 1 } else { 0 };
        self.calls = (self.calls << 1 | u32::from(failed)) & ((1 << REMEMBERED) - 1);
        self.known_calls = REMEMBERED.min(self.known_calls + 1);
    }

    fn is_bad(&self) -> bool {
        let half = self.known_calls == REMEMBERED && self.calls.count_ones() * 2 >= REMEMBERED;
        half || self.in_a_row >= IN_A_ROW
    }

    fn open(&mut self, now: Duration) {
        self.state = CircuitState::Open { until: now + self.pause, probing: false };
        self.pause = LONGEST_PAUSE.min(self.pause * 2);
        self.period += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Makes a call at `now`, which must be permitted, and gives whether it opened the breaker.
    #[track_caller]
    fn call(breaker: &mut Breaker, end: End, now: Duration) -> bool {
        let turn = breaker.admit(now).expect("a call is permitted");
        breaker.settle(turn, end, now)
    }

    fn opened(at: Duration) -> Breaker {
        let mut breaker = Breaker::new();
        let opens = (0..5).map(|_| call(&mut breaker, End::Failure, at));
        assert_eq!(opens.collect::<Vec<_>>(), [false, false, false, false, true]);
        breaker
    }

    #[test]
    fn five_failures_in_a_row_open_it_for_ten_seconds() {
        let mut breaker = opened(s(100));
        assert_eq!(breaker.state(s(100)), BreakerState::Open(s(10)));
        assert_eq!(breaker.admit(s(101)), Err(s(9)));
        let almost = s(110) - Duration::from_nanos(1);
        assert_eq!(breaker.admit(almost), Err(Duration::from_nanos(1)));
        assert_eq!(breaker.state(s(110)), BreakerState::HalfOpen);
        assert!(breaker.admit(s(110)).is_ok());
    }

    #[test]
    fn an_answer_in_between_counts_anew_and_nothing_counts_as_nothing() {
        let mut breaker = Breaker::new();
        for _ in 0..3 {
            for _ in 0..4 {
                assert!(!call(&mut breaker, End::Failure, s(0)));
            }
            for _ in 0..6 {
                assert!(!call(&mut breaker, End::Answer, s(0)));
            }
        }
        let mut breaker = Breaker::new();
        for _ in 0..4 {
            assert!(!call(&mut breaker, End::Failure, s(0)));
            assert!(!call(&mut breaker, End::Nothing, s(0)));
        }
        assert!(call(&mut breaker, End::Failure, s(0)), "nothing is no answer either");
    }

    #[test]
    fn a_trap_on_every_second_call_opens_it_at_the_twentieth() {
        let mut breaker = Breaker::new();
        for round in 1..=10 {
            assert!(!call(&mut breaker, End::Answer, s(0)), "{round}");
            assert_eq!(call(&mut breaker, End::Failure, s(0)), round == 10, "{round}");
        }
        // Nine among any twenty are not enough.
        let mut breaker = Breaker::new();
        for _ in 0..5 {
            for call_of_20 in 0..20 {
                let failed = call_of_20 % 2 == 0 && (2..20).contains(&call_of_20);
                let end = if failed { End::Failure } else { End::Answer };
                assert!(!call(&mut breaker, end, s(0)));
            }
        }
    }

    #[test]
    fn an_open_breaker_admits_one_probe_and_its_answer_closes_it() {
        let mut breaker = opened(s(0));
        let probe = breaker.admit(s(10)).expect("a probe");
        assert_eq!(breaker.admit(s(11)), Err(s(0)), "one is under way");
        assert!(!breaker.settle(probe, End::Nothing, s(11)));
        let probe = breaker.admit(s(11)).expect("the next, since that one was given up");
        assert!(!breaker.settle(probe, End::Answer, s(12)));
        assert_eq!(breaker.state(s(12)), BreakerState::Closed);
        // It has forgotten what was before.
        for _ in 0..4 {
            assert!(!call(&mut breaker, End::Failure, s(12)));
        }
        assert!(call(&mut breaker, End::Failure, s(12)));
        assert_eq!(breaker.state(s(12)), BreakerState::Open(s(10)));
    }

    #[test]
    fn pauses_double_up_to_five_minutes_while_probes_fail() {
        let mut breaker = opened(s(0));
        let mut now = s(0);
        for pause in [10, 20, 40, 80, 160, 300, 300] {
            assert_eq!(breaker.state(now), BreakerState::Open(s(pause)));
            now += s(pause);
            assert!(call(&mut breaker, End::Failure, now));
        }
    }

    #[test]
    fn calls_that_began_before_it_opened_or_closed_do_not_count() {
        let mut breaker = Breaker::new();
        let (late, later) = (breaker.admit(s(0)).expect("closed"), breaker.admit(s(0)));
        for _ in 0..5 {
            call(&mut breaker, End::Failure, s(0));
        }
        assert!(!breaker.settle(late, End::Answer, s(1)), "no probe");
        assert!(!breaker.settle(later.expect("closed"), End::Failure, s(1)));
        assert_eq!(breaker.state(s(1)), BreakerState::Open(s(9)), "neither closed nor prolonged");
    }
}
