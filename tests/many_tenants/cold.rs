//! A tenant with 10,000 rules on 4,000 resources that many ask after a restart, beside a neighbour whose plans are there: the
//! rate of its checks, and the time that the neighbour waits.

use std::thread;

use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::tenants::TenantSizes;

use crate::child::send;
use crate::load::{Check, Load, Measured, Protocol};
use crate::place::{Place, median, question};
use crate::support::Server;

const SIZES: TenantSizes = TenantSizes::COLD;
/// The resources that the neighbour asks about.
const OF_NEIGHBOUR: usize = 10;
/// The distance between resources that are asked about one after the other, prime to their number.
const STRIDE: usize = 1_237;
/// The distance between the beginnings of the seconds: none asks what the one before has warmed alone.
const SHIFT: usize = 700;
/// Seconds after the restart.
const SECONDS: usize = 14;
/// The last of them, which are warm.
const WARM: usize = 5;
/// The least rate of the third and of the sixth second, by the warm one.
const MIN_THIRD: f64 = 0.5;
const MIN_SIXTH: f64 = 0.95;
/// Most time of the slowest hundredth of the neighbour's checks beside a cold tenant, by its time beside a warm one.
const MAX_P99: f64 = 1.5;

/// A second of both tenants.
struct Second {
    asked: Measured,
    neighbour: Measured,
}

impl Second {
    /// Returns the checks in a second of the tenant that is cold at first.
    fn rate(&self) -> f64 {
        self.asked.answers as f64 / self.asked.seconds
    }

    /// Returns the milliseconds within which 99 of 100 checks of the neighbour are answered.
    fn p99(&self) -> f64 {
        self.neighbour.p99 as f64 / 1e3
    }
}

pub(crate) fn measure(group: &mut Group<'_>, place: &Place) {
    place.fill(SIZES);
    let (_, server) = place.start(&place.settings, 2);
    let [token, of_neighbour] = [1, 2].map(|tenant| place.token(tenant, &["role-0"]));
    let neighbour = load(&server, &of_neighbour, (0..OF_NEIGHBOUR).collect());
    // Its own plans are there before the other tenant is asked for the first time.
    answered(&neighbour);
    let seconds: Vec<Second> = (0..SECONDS)
        .map(|second| {
            let resources =
                (0..SIZES.resources).map(|n| (second * SHIFT + n) * STRIDE % SIZES.resources);
            let own = load(&server, &token, resources.collect());
            thread::scope(|scope| {
                let neighbour = scope.spawn(|| answered(&neighbour));
                Second { asked: answered(&own), neighbour: neighbour.join().expect("no panic") }
            })
        })
        .collect();
    let (cold, warm) = seconds.split_at(SECONDS - WARM);
    let warm_rate = median(warm.iter().map(Second::rate).collect());
    let warm_p99 = median(warm.iter().map(Second::p99).collect());
    group.measurement("warm checks in a second", warm_rate, "", Bar::Shown);
    for (number, second) in (1..).zip(&cold[..6]) {
        let bar = match number {
            3 => Bar::AtLeast(MIN_THIRD),
            6 => Bar::AtLeast(MIN_SIXTH),
            _ => Bar::Shown,
        };
        group.measurement(format!("second {number} / warm"), second.rate() / warm_rate, "", bar);
    }
    group.measurement("neighbour beside a warm tenant, p99", warm_p99, " ms", Bar::Shown);
    // By then all plans are there.
    let worst = cold[..3].iter().map(Second::p99).fold(0.0, f64::max);
    group.measurement(
        "neighbour beside a cold tenant, worst p99 of three seconds",
        worst,
        " ms",
        Bar::Shown,
    );
    group.measurement("cold / warm", worst / warm_p99, "", Bar::AtMost(MAX_P99));
    assert!(server.stop().success());
}

/// Returns a load of one second: checks of these resources by the holder of `token`.
fn load(server: &Server, token: &str, resources: Vec<usize>) -> Load {
    let requests = resources.into_iter().map(|resource| {
        let body = question(resource).to_string();
        Check { token: token.to_owned(), body }
    });
    Load {
        address: server.address,
        path: "/api/v1/check".to_owned(),
        protocol: Protocol::Http1 { pipelined: 1 },
        millis: 1_000,
        once: false,
        requests: requests.collect(),
    }
}

/// Sends a load. Every request must be answered with a 200.
fn answered(load: &Load) -> Measured {
    let measured = send(load);
    assert_eq!(measured.wrong, 0, "every check is a 200");
    measured
}
