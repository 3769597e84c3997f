//! Places, at given instants.

use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Poll, Waker};

use chrono::DateTime;
use prometheus_client::registry::Registry;

use super::*;

fn places(checks: u32, management: u32) -> Places {
    let capacities = ClassCapacities { checks, management, uploads: 4 };
    Places::new(&capacities, &LimitMetrics::register(&mut Registry::default()))
}

fn at(millis: u64) -> Moment {
    Moment::from_time(DateTime::UNIX_EPOCH) + Duration::from_millis(millis)
}

#[track_caller]
fn entered(admission: Admission) -> RequestPlace {
    match admission {
        Admission::Entered(place) => place,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn waiting(admission: Admission) -> WaitingRequest {
    match admission {
        Admission::Waiting(request) => request,
        other => panic!("{other:?}"),
    }
}

/// Returns the place of a request, if it came.
fn given(request: &mut WaitingRequest) -> Option<RequestPlace> {
    match pin!(request.place()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(place) => Some(place),
        Poll::Pending => None,
    }
}

#[track_caller]
fn refused(admission: Admission) -> RefusalReason {
    match admission {
        Admission::Refused(reason) => reason,
        other => panic!("{other:?}"),
    }
}

/// Returns the places that `tenant` gets at once, up to `attempts`.
fn take_all(places: &Places, class: Class, tenant: &str, attempts: usize) -> Vec<RequestPlace> {
    let enter = |_| match places.enter(class, tenant, at(0)) {
        Admission::Entered(place) => Some(place),
        _ => None,
    };
    (0..attempts).filter_map(enter).collect()
}

#[track_caller]
fn assert_is_empty(places: &Places) {
    for &class in Class::VARIANTS {
        let class = places.for_class(class);
        assert_eq!((class.running.get(), class.waiting.get()), (0, 0));
        assert!(class.requests.lock().tenants() == 0);
    }
}

#[test]
fn a_tenant_leaves_a_quarter_of_the_places_to_others() {
    let places = places(16, 16);
    let flood = take_all(&places, Class::Checks, "flood", 100);
    assert_eq!(flood.len(), 12, "half of the places, and a quarter that is counted");
    let others: Vec<_> = ["acme", "globex", "initech"]
        .into_iter()
        .map(|tenant| entered(places.enter(Class::Checks, tenant, at(0))))
        .collect();
    let last = entered(places.enter(Class::Checks, "acme", at(0)));
    let mut late = waiting(places.enter(Class::Checks, "globex", at(0)));
    drop(others);
    assert!(given(&mut late).is_some());
    drop((flood, last));
    assert_is_empty(&places);
}

#[test]
fn tenants_take_turns_however_many_requests_wait() {
    let places = places(16, 4);
    let held = take_all(&places, Class::Management, "hold", 3);
    let fourth = entered(places.enter(Class::Management, "other", at(0)));
    let mut flood: Vec<_> =
        (0..2).map(|_| waiting(places.enter(Class::Management, "flood", at(0)))).collect();
    assert_eq!(
        refused(places.enter(Class::Management, "flood", at(0))),
        RefusalReason::QueueFull,
        "a tenant may fill half of the queue"
    );
    let mut acme = waiting(places.enter(Class::Management, "acme", at(1)));
    let first = {
        drop(fourth);
        given(&mut flood[0]).unwrap()
    };
    assert!(given(&mut acme).is_none());
    drop(first);
    let acme = given(&mut acme).expect("it does not wait for the second request of the flood");
    assert!(given(&mut flood[1]).is_none());
    drop(acme);
    drop(given(&mut flood[1]).unwrap());
    drop(held);
    assert_is_empty(&places);
}

#[test]
fn new_requests_are_refused_when_the_oldest_waits_too_long() {
    let places = places(16, 4);
    let _held = take_all(&places, Class::Management, "acme", 3);
    let _waits = waiting(places.enter(Class::Management, "acme", at(0)));
    let _waits_too = waiting(places.enter(Class::Management, "acme", at(2_000)));
    let reason = refused(places.enter(Class::Management, "acme", at(2_001)));
    assert_eq!(reason, RefusalReason::QueueTime);
    entered(places.enter(Class::Management, "globex", at(2_001)));
}

#[test]
fn a_request_that_is_gone_takes_no_place() {
    let places = places(16, 4);
    let held = take_all(&places, Class::Management, "acme", 3);
    let gone = waiting(places.enter(Class::Management, "acme", at(0)));
    let mut waits = waiting(places.enter(Class::Management, "acme", at(0)));
    drop(gone);
    drop(held);
    let place = given(&mut waits).expect("the place that the gone request would have");
    assert_eq!(places.for_class(Class::Management).running.get(), 1);
    drop(place);
    assert_is_empty(&places);
}

#[test]
fn gone_requests_do_not_fill_the_queue() {
    let places = places(16, 4);
    let held = take_all(&places, Class::Management, "acme", 3);
    let other = entered(places.enter(Class::Management, "globex", at(0)));
    let wait = |tenant| waiting(places.enter(Class::Management, tenant, at(0)));
    let queue = ["a", "b", "c", "d"].map(wait);
    assert!(places.is_full(Class::Management));
    drop(queue);
    assert!(!places.is_full(Class::Management), "a new request may wait");
    let mut waits = waiting(places.enter(Class::Management, "e", at(0)));
    drop(other);
    drop(given(&mut waits).unwrap());
    drop(held);
    assert_is_empty(&places);
}

#[test]
fn a_request_that_gave_up_does_not_refuse_the_next_one() {
    let places = places(16, 4);
    let _held = take_all(&places, Class::Management, "acme", 3);
    drop(waiting(places.enter(Class::Management, "acme", at(0))));
    assert_eq!(places.for_class(Class::Management).waiting.get(), 0);
    let _waits = waiting(places.enter(Class::Management, "acme", at(2_001)));
}

#[test]
fn a_place_that_nobody_receives_is_free_again() {
    let places = places(16, 4);
    let held = take_all(&places, Class::Management, "acme", 3);
    let waits = waiting(places.enter(Class::Management, "acme", at(0)));
    drop(held);
    drop(waits);
    assert_is_empty(&places);
}

#[test]
fn management_gives_way_while_checks_wait() {
    let places = places(1, 16);
    let held = entered(places.enter(Class::Checks, "acme", at(0)));
    let waits = waiting(places.enter(Class::Checks, "acme", at(0)));
    let few = take_all(&places, Class::Management, "acme", 100);
    assert_eq!(few.len(), 4, "a quarter of the places");
    drop(held);
    drop(waits);
    let more = take_all(&places, Class::Management, "globex", 100);
    assert_eq!(
        few.len() + more.len(),
        14,
        "half of the places, a share, and two of the first tenant"
    );
}

#[test]
fn no_tenant_takes_the_places_of_the_operator() {
    let places = places(4, 4);
    let flood = take_all(&places, Class::Management, "flood", 100);
    assert!(!flood.is_empty());
    entered(places.enter(Class::Operator, "", at(0)));
}

#[test]
fn many_threads_get_at_most_the_number_of_places() {
    let (places, running, most) = (places(8, 4), AtomicUsize::new(0), AtomicUsize::new(0));
    let served = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (places, running, most, served) = (&places, &running, &most, &served);
            scope.spawn(move || {
                let tenant = format!("tenant-{}", thread % 3);
                for _ in 0..2_000 {
                    let place = match places.enter(Class::Management, &tenant, at(0)) {
                        Admission::Entered(place) => place,
                        // Every place that is freed is given to somebody: nobody waits for ever.
                        Admission::Waiting(mut request) => loop {
                            match given(&mut request) {
                                Some(place) => break place,
                                None => std::thread::yield_now(),
                            }
                        },
                        Admission::Refused(_) => continue,
                    };
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    std::thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                    served.fetch_add(1, Ordering::SeqCst);
                    drop(place);
                }
            });
        }
    });
    assert!(most.into_inner() <= 4);
    assert!(served.into_inner() > 2_000);
    assert_is_empty(&places);
}

/// Milliseconds after which a client of the simulation gives up.
const GIVES_UP: u64 = 3_000;
/// Milliseconds that a request of the simulation takes once it has a place.
const WORK: u64 = 100;

/// A request of the simulation: the instant at which it came, and its place or its wait for one.
struct Simulated {
    came: u64,
    place: Result<(u64, RequestPlace), WaitingRequest>,
}

/// Returns the part of the capacity that serves clients in time, when three times the capacity comes for 20 s. Each of the
/// 8 places serves 10 requests a second; the service does not see that a client gave up.
fn goodput(places: &Places) -> f64 {
    let (mut requests, mut in_time) = (Vec::<Simulated>::new(), 0);
    for millis in 0..20_000_u64 {
        // 240 requests a second, of two tenants: 6 in 25 ms.
        if millis % 25 < 6 {
            let tenant = if millis.is_multiple_of(2) { "acme" } else { "globex" };
            let place = match places.enter(Class::Management, tenant, at(millis)) {
                Admission::Entered(place) => Some(Ok((millis + WORK, place))),
                Admission::Waiting(request) => Some(Err(request)),
                Admission::Refused(_) => None,
            };
            requests.extend(place.map(|place| Simulated { came: millis, place }));
        }
        requests.retain(|request| match &request.place {
            Ok((done, _)) if *done <= millis => {
                in_time += usize::from(done - request.came <= GIVES_UP);
                false
            }
            _ => true,
        });
        for request in &mut requests {
            if let Err(waiting) = &mut request.place
                && let Some(place) = given(waiting)
            {
                request.place = Ok((millis + WORK, place));
            }
        }
    }
    in_time as f64 / (8.0 * 10.0 * 20.0)
}

#[test]
fn at_three_times_the_capacity_most_of_it_serves_clients_in_time() {
    let part = goodput(&places(8, 8));
    assert!(part >= 0.8, "{part}");
}

/// The control: a queue without an end serves most clients too late.
#[test]
fn without_shedding_little_of_the_capacity_serves_clients_in_time() {
    let mut places = places(8, 8);
    let class = Arc::get_mut(&mut places.0[Class::Management as usize]).unwrap();
    class.most_waiting = i64::MAX;
    class.patience = Duration::MAX;
    let part = goodput(&places);
    assert!(part < 0.4, "{part}");
}
