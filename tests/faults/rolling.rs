//! Replicas that are restarted one after the other, behind a load balancer that asks for readiness.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::support::{Provider, Request, Server, Settings, Tenant, eventually};

/// Time between two probes of the load balancer.
const PROBE: Duration = Duration::from_millis(50);
/// Many probes, for a machine that is busy.
const DELAY: &str = "1s";

/// A load balancer: the replicas that it knows, and whether each was ready at its last probe.
#[derive(Default)]
struct Balancer {
    replicas: Mutex<Vec<(SocketAddr, bool)>>,
    stopped: AtomicBool,
    turn: AtomicUsize,
}

impl Balancer {
    fn add(&self, address: SocketAddr) {
        self.replicas.lock().expect("unpoisoned").push((address, false));
    }

    fn remove(&self, address: SocketAddr) {
        self.replicas.lock().expect("unpoisoned").retain(|replica| replica.0 != address);
    }

    fn ready(&self) -> Vec<SocketAddr> {
        let replicas = self.replicas.lock().expect("unpoisoned");
        replicas.iter().filter(|replica| replica.1).map(|replica| replica.0).collect()
    }

    /// Probes all replicas until the end.
    fn probe(&self) {
        while !self.stopped.load(Ordering::SeqCst) {
            let all: Vec<_> = self.replicas.lock().expect("unpoisoned").clone();
            for (address, _) in all {
                let reply = Request::new("GET /healthz/ready").try_send(address);
                let is_ready = reply.is_some_and(|reply| reply.status == 200);
                let mut replicas = self.replicas.lock().expect("unpoisoned");
                let known = replicas.iter_mut().filter(|replica| replica.0 == address);
                known.for_each(|replica| replica.1 = is_ready);
            }
            std::thread::sleep(PROBE);
        }
    }

    /// Sends checks to replicas that are ready, each to the next one. Returns the numbers of good and failed checks.
    fn check(&self, tenant: &Tenant<'_>) -> (usize, usize) {
        let body = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
        let token = tenant.token("gateway", &["service"]);
        let request = Request::new("POST /api/v1/check").token(&token).json(&body);
        let (mut good, mut failed) = (0, 0);
        while !self.stopped.load(Ordering::SeqCst) {
            let ready = self.ready();
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            let Some(address) = ready.get(turn % ready.len().max(1)) else { continue };
            let reply = request.try_send(*address);
            match reply
                .is_some_and(|reply| reply.status == 200 && reply.text_of("decision") == "allow")
            {
                true => good += 1,
                false => failed += 1,
            }
        }
        (good, failed)
    }
}

/// Starts three replicas, and replaces them one after the other under load. Returns the numbers of checks.
fn restart_all(settings: &Settings) -> (usize, usize) {
    let mut replicas: Vec<Server> = (0..3).map(|_| settings.start()).collect();
    let tenant = Tenant::with_provider(&replicas[0], Provider::shared(), "t");
    tenant.rule("alice", "doc:read", "read", "allow");
    let balancer = Balancer::default();
    replicas.iter().for_each(|replica| balancer.add(replica.address));
    std::thread::scope(|scope| {
        scope.spawn(|| balancer.probe());
        eventually("all are ready", || balancer.ready().len() == 3);
        let clients: Vec<_> = (0..3).map(|_| scope.spawn(|| balancer.check(&tenant))).collect();
        for _ in 0..3 {
            let old = replicas.remove(0);
            let address = old.address;
            assert_eq!(old.stop().code(), Some(0));
            balancer.remove(address);
            let new = settings.start();
            balancer.add(new.address);
            replicas.push(new);
            eventually("it is ready", || balancer.ready().len() == 3);
        }
        balancer.stopped.store(true, Ordering::SeqCst);
        let counts = clients.into_iter().map(|client| client.join().expect("no panic"));
        counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
    })
}

#[test]
fn no_check_fails_while_replicas_restart_one_after_the_other() {
    let settings = Settings::new(Provider::shared()).set("SHUTDOWN_DELAY", DELAY);
    let (good, failed) = restart_all(&settings);
    println!("{good} checks, {failed} failed");
    assert!(good > 200, "{good} checks");
    assert_eq!(failed, 0, "of {good}");
}

#[test]
fn a_replica_that_stops_is_not_ready_and_still_serves() {
    let settings = Settings::new(Provider::shared()).set("SHUTDOWN_DELAY", "1s");
    let mut server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "t");
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    server.process.terminate();
    let ready = Request::new("GET /healthz/ready");
    eventually("it is not ready", || ready.send(server.address).status == 503);
    let stopping = json!({"status": "stopping", "checks": {"database": "ok", "casbin": "ok"}});
    ready.send(server.address).has(&stopping);
    tenant.decide("alice", "doc:read", "read").is("allow", &rule);
    assert_eq!(server.process.wait().expect("it ends").code(), Some(0));
}
