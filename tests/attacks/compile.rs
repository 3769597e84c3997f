//! Attack 2: modules that cost their compiler far more than their size.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use portcullis_test_guests::CostlyFunctions;

use crate::cost::{Figure, mib};
use crate::support::resolver::{Form, RESOLVERS, directory, guest};
use crate::support::{Provider, Server, Settings, Tenant};

/// The attack of version 0.1: some 1 MB.
const BEYOND: CostlyFunctions =
    CostlyFunctions { count: 2, parameters: 0, locals: 50_000, loops: 100 };
/// The most that the limits of structure let through to the compiler.
const WITHIN: CostlyFunctions =
    CostlyFunctions { count: 10, parameters: 0, locals: 9_900, loops: 100 };

/// Uploads costly modules again and again as one tenant, while another tenant uploads a good one.
pub(crate) fn costly_modules() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let attacker = Tenant::with_provider(&server, Provider::shared(), "attacker");
    let neighbour = Tenant::with_provider(&server, Provider::shared(), "neighbour");
    let before = memory(&server);
    let (done, good) = (AtomicBool::new(false), guest("directory"));
    let attack = |functions: CostlyFunctions| {
        let form = Form::new(&directory("costly"), &functions.added_to(&good));
        while !done.load(Ordering::Relaxed) {
            attacker.upload(format!("POST {RESOLVERS}"), &form);
        }
    };
    let (most, slowest) = std::thread::scope(|scope| {
        scope.spawn(|| attack(BEYOND));
        scope.spawn(|| attack(WITHIN));
        let watch = scope.spawn(|| {
            let mut most = 0.0_f64;
            while !done.load(Ordering::Relaxed) {
                most = most.max(memory(&server));
                std::thread::sleep(Duration::from_millis(20));
            }
            most
        });
        let mut slowest = Duration::ZERO;
        for number in 0..20 {
            let form = Form::new(&directory(&format!("good_{number}")), &good);
            let begun = Instant::now();
            neighbour.upload(format!("POST {RESOLVERS}"), &form).is(201);
            slowest = slowest.max(begun.elapsed());
            std::thread::sleep(Duration::from_millis(500));
        }
        done.store(true, Ordering::Relaxed);
        (watch.join().expect("it watches"), slowest)
    });
    vec![
        Figure::mib("memory of the service and its compilers", most - before, 1024.0),
        Figure::time("another tenant's upload", slowest, Duration::from_secs(10)),
    ]
}

/// Returns the resident memory of the server and of the processes that it started, in MiB.
fn memory(server: &Server) -> f64 {
    let own = server.process.id();
    let tasks = fs::read_dir(format!("/proc/{own}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = children
        .flat_map(|list| list.split_whitespace().map(str::parse).collect::<Vec<_>>())
        .filter_map(Result::ok)
        .collect();
    children.into_iter().chain([own]).filter_map(|process| mib(process, "VmRSS:")).sum()
}
