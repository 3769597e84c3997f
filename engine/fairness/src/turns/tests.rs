//! No tenant delays another: schedules of requests, with and without the tenants.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use tokio::time::Instant;

use super::*;

/// The tenants of schedules.
const TENANTS: usize = 5;

/// A step of a schedule.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A request of this tenant comes.
    Come(usize),
    /// One of the running requests ends.
    End(usize),
    /// One of the waiting requests gives up.
    GiveUp(usize),
}

/// A request that waits for its turn.
struct Pending {
    tenant: usize,
    begin: Pin<Box<dyn Future<Output = Turn>>>,
    /// The turns of each other tenant that began while this was the only kind of request of its tenant.
    overtaken: HashMap<usize, usize>,
}

/// Requests of a queue, polled by hand.
struct Schedule {
    queue: TurnQueue,
    /// Whether the queue knows the tenants of requests.
    is_fair: bool,
    pending: Vec<Pending>,
    running: Vec<(usize, Turn)>,
    /// The most turns of one other tenant for which a request of a tenant without a turn waited.
    most_overtaken: usize,
}

impl Schedule {
    fn new(limits: TurnLimits, is_fair: bool) -> Self {
        let queue = TurnQueue::new(limits);
        Self { queue, is_fair, pending: Vec::new(), running: Vec::new(), most_overtaken: 0 }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Come(tenant) => {
                let queue = self.queue.clone();
                let name = if self.is_fair { format!("tenant-{tenant}") } else { String::new() };
                let begin = Box::pin(async move { queue.begin_patiently(&name).await });
                self.pending.push(Pending { tenant, begin, overtaken: HashMap::new() });
            }
            Step::End(at) if !self.running.is_empty() => {
                self.running.remove(at % self.running.len());
            }
            Step::GiveUp(at) if !self.pending.is_empty() => {
                self.pending.remove(at % self.pending.len());
            }
            _ => {}
        }
        self.poll();
    }

    /// Begins the turns that the queue gives.
    fn poll(&mut self) {
        let mut at = 0;
        while let Some(pending) = self.pending.get_mut(at) {
            match pending.begin.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Pending => at += 1,
                Poll::Ready(turn) => {
                    let tenant = self.pending.remove(at).tenant;
                    self.note_turn(tenant);
                    self.running.push((tenant, turn));
                }
            }
        }
    }

    /// Notes that a turn of `tenant` begins, for the first request of each other tenant without a turn.
    fn note_turn(&mut self, tenant: usize) {
        let mut seen = vec![tenant];
        seen.extend(self.running.iter().map(|(tenant, _)| *tenant));
        for waiting in &mut self.pending {
            if !seen.contains(&waiting.tenant) {
                seen.push(waiting.tenant);
                let turns = waiting.overtaken.entry(tenant).or_default();
                *turns += 1;
                self.most_overtaken = self.most_overtaken.max(*turns);
            }
        }
    }

    /// Checks the limits, and that no turn is left unused.
    fn check(&self, limits: TurnLimits) {
        let taken = |tenant| self.running.iter().filter(|(own, _)| *own == tenant).count();
        assert_eq!(self.queue.taken(), self.running.len());
        let own: usize = (0..TENANTS).map(|tenant| taken(tenant).min(limits.per_tenant)).sum();
        let lent = self.running.len() - own;
        assert!(own <= limits.at_once.max(limits.lent_below));
        assert!(lent <= limits.lent_below.saturating_sub(limits.per_tenant));
        let is_lent = self.running.len() < limits.lent_below;
        let is_full = own >= limits.at_once;
        let must_wait =
            |one: &Pending| !is_lent && (is_full || taken(one.tenant) >= limits.per_tenant);
        assert!(self.pending.iter().all(must_wait));
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..TENANTS).prop_map(Step::Come),
        2 => any::<usize>().prop_map(Step::End),
        1 => any::<usize>().prop_map(Step::GiveUp),
    ];
    proptest::collection::vec(step, 0..120)
}

proptest! {
    /// A tenant without a turn waits for at most one turn of each other tenant, whatever the others do.
    #[test]
    fn no_tenant_delays_another(
        steps in steps(),
        at_once in 1..5_usize,
        per_tenant in 1..5_usize,
        lent_below in 0..8_usize,
    ) {
        let limits = TurnLimits { at_once, per_tenant, lent_below, ..TurnLimits::NONE };
        let mut schedule = Schedule::new(limits, true);
        for step in steps {
            schedule.take(step);
            schedule.check(limits);
        }
        prop_assert!(schedule.most_overtaken <= 1, "{}", schedule.most_overtaken);
        let queue = schedule.queue.clone();
        drop(schedule);
        prop_assert_eq!((queue.tenants(), queue.taken()), (0, 0));
    }
}

/// Returns the turns of tenant 0, which asks for a hundred, for which the one of tenant 1 waits.
fn turns_before_another(is_fair: bool) -> usize {
    let limits = TurnLimits { at_once: 4, per_tenant: 4, ..TurnLimits::NONE };
    let mut schedule = Schedule::new(limits, is_fair);
    (0..100).for_each(|_| schedule.take(Step::Come(0)));
    schedule.take(Step::Come(1));
    let mut turns = 0;
    while !schedule.running.iter().any(|(tenant, _)| *tenant == 1) {
        schedule.take(Step::End(0));
        turns += 1;
    }
    turns
}

#[test]
fn a_request_waits_for_one_turn_of_a_flood_and_for_all_without_tenants() {
    assert_eq!(turns_before_another(true), 1);
    assert_eq!(turns_before_another(false), 97, "the control must wait");
}

/// Returns the tenants of the turns that run after each step.
fn running_after(limits: TurnLimits, steps: &[Step]) -> Vec<Vec<usize>> {
    let mut schedule = Schedule::new(limits, true);
    let mut after = |step: &Step| {
        schedule.take(*step);
        schedule.running.iter().map(|(tenant, _)| *tenant).collect()
    };
    steps.iter().map(&mut after).collect()
}

#[test]
fn a_tenant_has_what_nobody_waits_for_until_a_neighbour_arrives() {
    let limits = TurnLimits { at_once: 2, per_tenant: 1, ..TurnLimits::NONE };
    let lending = TurnLimits { lent_below: 2, ..limits };
    use Step::{Come, End};
    // The neighbour waits for no turn of the first tenant, which gets none until one is free again.
    let steps = [Come(0), Come(0), Come(0), Come(1), End(0), End(1)];
    let with = [vec![0], vec![0, 0], vec![0, 0], vec![0, 0, 1], vec![0, 1], vec![0, 0]];
    assert_eq!(running_after(lending, &steps), with);
    let control = running_after(limits, &steps[..3]);
    assert_eq!(control, [vec![0], vec![0], vec![0]], "it leaves a turn unused");
}

const LIMITS: TurnLimits = TurnLimits {
    at_once: 2,
    per_tenant: 1,
    lent_below: 0,
    pending_per_tenant: 3,
    waiting: 4,
    wait: Some(Duration::from_secs(5)),
};

#[tokio::test(start_paused = true)]
async fn too_many_requests_and_those_that_wait_too_long_are_refused() {
    let queue = TurnQueue::new(LIMITS);
    let begin = async |tenant| queue.begin(tenant).await.map(|turn| turn.tenant().to_owned());
    let held = [queue.begin("a").await, queue.begin("b").await];
    let begun = Instant::now();
    let refused = tokio::join!(
        biased;
        begin("a"), begin("a"), begin("a"), begin("c"), begin("d"), begin("e"),
    );
    let (late, tenant_full, full) = (TurnRefusal::Late, TurnRefusal::TenantFull, TurnRefusal::Full);
    let expected = (Err(late), Err(late), Err(tenant_full), Err(late), Err(late), Err(full));
    assert_eq!((refused, Some(begun.elapsed())), (expected, LIMITS.wait));
    let patient = queue.begin_patiently("a");
    let (_, patient) = tokio::join!(async { drop(held) }, patient);
    assert_eq!((patient.tenant(), queue.taken()), ("a", 1));
    drop(patient);
    assert_eq!(queue.tenants(), 0);
}
