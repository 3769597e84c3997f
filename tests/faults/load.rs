//! The load of a run: one writer for each tenant, one client of each replica. They record what they see.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::history::{CELLS, Cell, Check, History, Process, TENANTS, Write};
use super::stage::{REPLICAS, Stage};
use crate::support::{Reply, Request, eventually_some};

/// Time between two requests of a client: the faults are tested, not the speed.
const PAUSE: Duration = Duration::from_millis(3);
const RULES: &str = "/api/v1/resources/policies";

/// Lets the writers go on when it is dropped.
struct Release<'h>(&'h AtomicBool);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// The clock and the shared state of the load.
pub(super) struct Load<'s> {
    stage: &'s Stage,
    begin: Instant,
    stopped: AtomicBool,
    /// Writers wait while it is true.
    held: AtomicBool,
    /// The number of writers that wait.
    waiting: AtomicU64,
    /// The last acknowledged revision of each tenant.
    acknowledged: [AtomicU64; TENANTS.len()],
    rules: Vec<Vec<String>>,
}

impl<'s> Load<'s> {
    /// Makes the rules of both tenants, all denying. Returns the load, and the history so far.
    pub(super) fn prepare(stage: &'s Stage) -> (Self, History) {
        let mut load = Self {
            stage,
            begin: Instant::now(),
            stopped: AtomicBool::new(false),
            held: AtomicBool::new(false),
            waiting: AtomicU64::new(0),
            acknowledged: Default::default(),
            rules: Vec::new(),
        };
        let mut history = History::default();
        for tenant in 0..TENANTS.len() {
            let cells = (0..CELLS).map(|number| load.create(Cell { tenant, number }));
            let (rules, writes): (Vec<_>, Vec<_>) = cells.unzip();
            load.rules.push(rules);
            history.writes.extend(writes);
        }
        history.rules.clone_from(&load.rules);
        (load, history)
    }

    pub(super) fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn create(&self, cell: Cell) -> (String, Write) {
        let rule = json!({
            "sub": cell.subject(), "obj": cell.resource(), "act": "read", "effect": "deny",
        });
        let (by, address) = self.stage.replica(0).expect("it runs");
        let began = self.now();
        let request = self.by_admin(cell, &format!("POST {RULES}")).json(&rule);
        let reply = request.send(address).is(201);
        let revision = Some(reply.revision());
        (reply.id(), Write { cell, allows: false, by, began, ended: self.now(), revision })
    }

    fn by_admin(&self, cell: Cell, route: &str) -> Request {
        Request::new(route).header("x-service-api-key", &self.stage.keys[cell.tenant].admin)
    }

    /// Runs the load while `faults` happen, and returns what was recorded.
    pub(super) fn during(&self, faults: impl FnOnce()) -> History {
        let mut recorded = History::default();
        std::thread::scope(|scope| {
            let writers = (0..TENANTS.len()).map(|tenant| scope.spawn(move || self.write(tenant)));
            let clients = (0..REPLICAS).map(|replica| scope.spawn(move || self.check(replica)));
            let threads: Vec<_> = writers.chain(clients).collect();
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(faults));
            self.stopped.store(true, Ordering::SeqCst);
            for thread in threads {
                recorded.add(thread.join().expect("no panic"));
            }
            if let Err(panic) = result {
                std::panic::resume_unwind(panic);
            }
        });
        recorded
    }

    /// Holds back all writes, runs `act` when none is under way, and lets them go on.
    pub(super) fn between_writes<T>(&self, act: impl FnOnce() -> T) -> T {
        self.held.store(true, Ordering::SeqCst);
        let _goes_on = Release(&self.held);
        while self.waiting.load(Ordering::SeqCst) < TENANTS.len() as u64 {
            std::thread::sleep(PAUSE);
        }
        act()
    }

    /// Waits until the replica can write again, or its process has ended.
    fn wait_until_ready(&self, by: Process) {
        let probe = Request::new("GET /healthz/ready");
        while self.goes_on() {
            let Some((present, address)) = self.stage.replica(by.replica) else { return };
            let reply = probe.try_send(address);
            if present != by || reply.is_some_and(|reply| reply.status == 200) {
                return;
            }
            std::thread::sleep(10 * PAUSE);
        }
    }

    fn goes_on(&self) -> bool {
        std::thread::sleep(PAUSE);
        !self.stopped.load(Ordering::SeqCst)
    }

    fn wait_while_held(&self) {
        if self.held.load(Ordering::SeqCst) {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            while self.held.load(Ordering::SeqCst) {
                std::thread::sleep(PAUSE);
            }
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Turns the rules of a tenant over, one after the other, by one replica after the other. A rule whose write got no
    /// good answer is written no more.
    fn write(&self, tenant: usize) -> History {
        let mut history = History::default();
        let mut cells: Vec<_> = (0..CELLS).map(|number| (Cell { tenant, number }, false)).collect();
        let mut turn = tenant;
        while self.goes_on() {
            self.wait_while_held();
            turn += 1;
            assert!(!cells.is_empty(), "a write of each rule failed: there are too few rules");
            let Some((by, address)) = self.stage.replica(turn % REPLICAS) else { continue };
            let index = turn % cells.len();
            let (cell, allowed) = cells[index];
            let body = json!({
                "id": self.rules[tenant][cell.number],
                "effect": if allowed { "deny" } else { "allow" },
            });
            let request = self.by_admin(cell, &format!("PUT {RULES}")).json(&body);
            let began = self.now();
            let reply = request.try_send(address);
            let ended = self.now();
            let revision = reply.filter(|reply| reply.status == 200).map(|reply| reply.revision());
            history.writes.push(Write { cell, allows: !allowed, by, began, ended, revision });
            match revision {
                Some(revision) => {
                    cells[index].1 = !allowed;
                    self.acknowledged[tenant].fetch_max(revision, Ordering::SeqCst);
                }
                None => {
                    cells.remove(index);
                    self.wait_until_ready(by);
                }
            }
        }
        history
    }

    /// Asks one replica about all cells, and demands the last revision in each fourth check.
    fn check(&self, replica: usize) -> History {
        let mut history = History::default();
        let mut turn = replica;
        while self.goes_on() {
            turn += 1;
            let Some((by, address)) = self.stage.replica(replica) else { continue };
            let number = turn / TENANTS.len() % CELLS;
            let cell = Cell { tenant: turn % TENANTS.len(), number };
            let last = &self.acknowledged[cell.tenant];
            let demanded = if turn % 4 == 0 { last.load(Ordering::SeqCst) } else { 0 };
            match self.ask(cell, by, address, demanded) {
                Ok(check) => history.checks.push(check),
                Err(at) => history.failed.push(at),
            }
        }
        history
    }

    /// Asks every replica about every cell, with the last revision demanded.
    pub(super) fn check_all(&self) -> History {
        let mut history = History::default();
        for replica in 0..REPLICAS {
            let (by, address) = self.stage.replica(replica).expect("it runs");
            for tenant in 0..TENANTS.len() {
                let demanded = self.acknowledged[tenant].load(Ordering::SeqCst);
                let cells = (0..CELLS).map(|number| Cell { tenant, number });
                // A replica is ready some time before it can prove that its plans are fresh.
                let ask = |cell| self.ask(cell, by, address, demanded).ok();
                let checks = cells.map(|cell| eventually_some("all works again", || ask(cell)));
                history.checks.extend(checks);
            }
        }
        history
    }

    /// Returns the answer, or the time at which there was none.
    fn ask(
        &self,
        cell: Cell,
        by: Process,
        address: std::net::SocketAddr,
        demanded: u64,
    ) -> Result<Check, Duration> {
        let body = json!({
            "subject": cell.subject(), "resource": cell.resource(), "action": "read",
        });
        let key = &self.stage.keys[cell.tenant].gateway;
        let request = Request::new("POST /api/v1/check").header("x-service-api-key", key);
        let request = request.header("x-min-policy-revision", &demanded.to_string()).json(&body);
        let began = self.now();
        let reply = request.try_send(address);
        let ended = self.now();
        let reply: Reply = reply.filter(|reply| reply.status == 200).ok_or(ended)?;
        Ok(Check {
            cell,
            by,
            began,
            ended,
            demanded,
            revision: reply.revision(),
            allowed: reply.text_of("decision") == "allow",
            rule: reply.text_of("matched_rule_id"),
        })
    }
}
