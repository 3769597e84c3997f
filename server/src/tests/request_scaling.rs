//! The checks that two threads of one process decide, compared with two processes of one thread each, which share nothing.
//!
//! `cargo test --release -p portcullis-server --bin portcullis -- --ignored --nocapture request_scaling::compare`

use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use http::Request;
use portcullis_http::HttpService;
use rustix::time::{ClockId, clock_gettime};

use super::request_costs::{Provider, check_body, service};

/// The time of one turn.
const TURN: Duration = Duration::from_secs(1);
/// Turns of each alternative, of which the median counts.
const TURNS: usize = 5;
/// Least part of the checks of two processes that two threads decide.
const LEAST: f64 = 0.95;

/// Decides checks on `threads` threads, each on its own processor from `first` on. Returns the checks per second of
/// processor time of each thread, so that other processes do not count.
fn rates(service: &HttpService, token: &str, first: usize, threads: usize) -> Vec<f64> {
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        let barrier = &barrier;
        let run = |processor| {
            move || {
                pin_to(processor);
                barrier.wait();
                rate(service, token)
            }
        };
        let running: Vec<_> = (first..first + threads).map(|core| scope.spawn(run(core))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn pin_to(processor: usize) {
    // `<process>/task/<thread>`
    let thread = std::fs::read_link("/proc/thread-self").unwrap();
    let thread = thread.file_name().unwrap().to_owned();
    let mut taskset = Command::new("taskset");
    taskset.arg("-cp").arg(processor.to_string()).arg(thread).stdout(Stdio::null());
    assert!(taskset.status().unwrap().success(), "`taskset` of util-linux pins the thread");
}

fn rate(service: &HttpService, token: &str) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let body = bytes::Bytes::from(check_body().to_string());
    let check = || {
        let request = Request::post("/api/v1/check")
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .body(axum::body::Body::from(body.clone()))
            .unwrap();
        let answer = runtime.block_on(service.clone().answer(request));
        assert_eq!(answer.status(), 200);
    };
    let (begun, used) = (Instant::now(), processor_time());
    let mut checks = 0;
    while begun.elapsed() < TURN {
        (0..100).for_each(|_| check());
        checks += 100;
    }
    f64::from(checks) / (processor_time() - used)
}

/// Returns the seconds of processor time of this thread.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Runs `measure` with a service in memory and the token of a caller.
fn with_service(measure: impl FnOnce(&HttpService, &str)) {
    let data = tempfile::tempdir().unwrap();
    let provider = Provider::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let (service, token) = runtime.block_on(service(data.path(), &provider));
    measure(&service, &token);
}

fn print_rate(processor: usize) {
    with_service(|service, token| {
        rates(service, token, processor, 1);
        println!("rate {}", rates(service, token, processor, 1)[0]);
    });
}

#[test]
#[ignore = "a part of `compare`, which runs it as a process of its own"]
fn on_the_first_processor() {
    print_rate(0);
}

#[test]
#[ignore = "a part of `compare`, which runs it as a process of its own"]
fn on_the_second_processor() {
    print_rate(1);
}

/// Returns the sum of the rates of two processes that run at the same time.
fn measure_two_processes() -> f64 {
    let start = |name: &str| {
        let name = format!("tests::request_scaling::{name}");
        Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", &name])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let running = ["on_the_first_processor", "on_the_second_processor"].map(start);
    let rate = |process: std::process::Child| {
        let out = String::from_utf8(process.wait_with_output().unwrap().stdout).unwrap();
        let line = out.lines().find_map(|line| line.split_once("rate ")).unwrap();
        line.1.trim().parse::<f64>().unwrap()
    };
    running.map(rate).iter().sum()
}

#[test]
#[ignore = "a measurement, which needs two idle processors and a release build"]
fn compare() {
    let mut ratios = Vec::new();
    with_service(|service, token| {
        rates(service, token, 0, 2);
        for _ in 0..TURNS {
            let apart = measure_two_processes();
            let together: f64 = rates(service, token, 0, 2).iter().sum();
            println!("two processes {apart:.0}/s, two threads {together:.0}/s of processor time");
            ratios.push(together / apart);
        }
    });
    ratios.sort_unstable_by(f64::total_cmp);
    let ratio = ratios[TURNS / 2];
    let verdict = if ratio >= LEAST { "met" } else { "missed" };
    println!("two threads / two processes: {ratio:.2} (≥ {LEAST}: {verdict})");
}
