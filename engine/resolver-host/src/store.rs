//! One call: a fresh instance in its own store. Dropping the store ends the instance, in any case.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, select};
use wasmtime::component::ResourceTable;
use wasmtime::{Engine, ResourceLimiter, Store, Trap, UpdateDeadline};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, I32Exit, WasiCtx};

use crate::bindings::{Guest, GuestPre};
use crate::contract::{Descriptor, GuestError, Request, Resolution};
use crate::environment::{Grant, Runtime};
use crate::error::CallError;
use crate::limits::{HANDLES, Limits, PASSED_BYTES, RANDOM_BYTES};
use crate::log::{Log, cut};

/// The host's state of one call.
pub(crate) struct CallState {
    pub(crate) wasi: WasiCtx,
    /// The resources behind the guest's handles. The limit of handles bounds it.
    pub(crate) table: ResourceTable,
    pub(crate) meter: MemoryMeter,
    pub(crate) log: Log,
    /// The grant of the manifest; `None` while the module describes itself.
    pub(crate) grant: Option<Arc<Grant>>,
    /// The number of requests sent so far.
    pub(crate) requests: u32,
    /// True once the instance exists.
    pub(crate) started: bool,
}

/// A call that ended: its result and its costs.
#[derive(Debug)]
pub(crate) struct FinishedCall<T> {
    pub(crate) result: Result<T, CallError>,
    pub(crate) log: Log,
    pub(crate) elapsed: Duration,
    pub(crate) memory_bytes: usize,
}

/// A call that has not started.
pub(crate) struct GuestCall {
    store: Store<CallState>,
    runtime: Arc<dyn Runtime>,
    begun: Duration,
    timeout: Duration,
}

impl GuestCall {
    /// Prepares a call. `now` is the guest's time of day, since the Unix epoch.
    pub(crate) fn new(
        engine: &Engine,
        runtime: Arc<dyn Runtime>,
        grant: Option<Arc<Grant>>,
        limits: Limits,
        now: Duration,
    ) -> Self {
        let begun = runtime.elapsed();
        let clock = Clock { runtime: runtime.clone(), begun, now };
        let state = CallState {
            wasi: WasiCtx::builder()
                .wall_clock(clock.clone())
                .monotonic_clock(clock)
                .max_random_size(RANDOM_BYTES)
                .build(),
            table: ResourceTable::new(),
            meter: MemoryMeter { limit: limits.memory_bytes, peak: 0, denied: None },
            log: Log::default(),
            grant,
            requests: 0,
            started: false,
        };
        let mut store = Store::new(engine, state);
        store.limiter(|state| &mut state.meter);
        store.set_hostcall_fuel(PASSED_BYTES);
        store.set_max_component_handles(HANDLES);
        let (clock, timeout) = (runtime.clone(), limits.timeout);
        // Runs at every epoch while the guest computes. The guest yields, so that others get their turn, or ends.
        store.epoch_deadline_callback(move |_| {
            if clock.elapsed().saturating_sub(begun) >= timeout {
                return Err(CallError::TimedOut(timeout).into());
            }
            Ok(UpdateDeadline::Yield(1))
        });
        // The default deadline is the current epoch, at which a guest traps at once.
        store.set_epoch_deadline(1);
        Self { store, runtime, begun, timeout }
    }

    pub(crate) async fn describe(mut self, pre: &GuestPre<CallState>) -> FinishedCall<Descriptor> {
        let time = self.runtime.sleep(self.timeout);
        let result = in_time(time, async {
            let guest = start(&mut self.store, pre).await?;
            guest.portcullis_resolver_resolver().call_describe(&mut self.store).await
        });
        // Awaited apart, because it borrows the store that `end` takes.
        let result = result.await;
        self.end(result)
    }

    pub(crate) async fn resolve(
        mut self,
        pre: &GuestPre<CallState>,
        request: &Request,
    ) -> FinishedCall<Result<Resolution, GuestError>> {
        let time = self.runtime.sleep(self.timeout);
        let result = in_time(time, async {
            let guest = start(&mut self.store, pre).await?;
            guest.portcullis_resolver_resolver().call_resolve(&mut self.store, request).await
        });
        let result = result.await;
        self.end(result)
    }

    /// Ends the call. `result` is `None` if it ran out of time.
    fn end<T>(self, result: Option<wasmtime::Result<T>>) -> FinishedCall<T> {
        let elapsed = self.runtime.elapsed().saturating_sub(self.begun);
        let state = self.store.into_data();
        let result = match result {
            Some(result) => result.map_err(|error| CallError::from_error(&error, &state)),
            None => Err(CallError::TimedOut(self.timeout)),
        };
        FinishedCall { result, log: state.log, elapsed, memory_bytes: state.meter.peak }
    }
}

/// Makes the instance.
async fn start(store: &mut Store<CallState>, pre: &GuestPre<CallState>) -> wasmtime::Result<Guest> {
    let guest = pre.instantiate_async(&mut *store).await?;
    store.data_mut().started = true;
    Ok(guest)
}

/// Returns the result of `work`; `None` if time runs out first. Epochs end a guest that computes; this ends a guest that
/// waits for the host.
async fn in_time<T>(time: BoxFuture<'_, ()>, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), time).await {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    }
}

impl CallError {
    /// Finds the cause of a failed call. A trap itself says little, so events before it come first: a refused growth of
    /// memory, or the guest's last words.
    fn from_error(error: &wasmtime::Error, state: &CallState) -> Self {
        // An error of the host's functions comes through wasmtime as it was.
        if let Some(known) = error.downcast_ref::<Self>() {
            return known.clone();
        }
        if error.is::<I32Exit>() {
            return Self::Exited;
        }
        if let Some(trap) = error.downcast_ref::<Trap>() {
            return Self::from_trap(*trap, state);
        }
        // wasmtime has no type for these two errors. The tests notice a change of the texts.
        let text = error.root_cause().to_string();
        if text.contains("fuel allocated for hostcalls") {
            return Self::TooLarge;
        }
        if text.contains("handle limit") {
            return Self::Handles;
        }
        match state.meter.denied {
            Some(limit) => Self::Memory(limit),
            None if state.started => Self::Trapped(cut(text)),
            None => Self::Contract(cut(text)),
        }
    }

    fn from_trap(trap: Trap, state: &CallState) -> Self {
        match trap {
            Trap::StackOverflow => Self::Stack,
            Trap::UnreachableCodeReached | Trap::MemoryOutOfBounds => {
                match (state.meter.denied, state.log.last_words()) {
                    (Some(limit), _) => Self::Memory(limit),
                    (None, _) if trap == Trap::MemoryOutOfBounds => Self::OutOfBounds,
                    (None, Some(words)) => Self::Panicked(words.to_owned()),
                    (None, None) => Self::Trapped(trap.to_string()),
                }
            }
            other => Self::Trapped(other.to_string()),
        }
    }
}

/// Measures and limits the linear memory of an instance, in bytes.
pub(crate) struct MemoryMeter {
    limit: usize,
    peak: usize,
    /// The limit that refused a growth, if one was refused.
    pub(crate) denied: Option<usize>,
}

impl ResourceLimiter for MemoryMeter {
    fn memory_growing(
        &mut self,
        _: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // `maximum` includes the size of a slot in the pool.
        let limit = maximum.map_or(self.limit, |maximum| maximum.min(self.limit));
        if desired > limit {
            self.denied = Some(limit);
            // Not an error: `memory.grow` gives -1, which the guest may handle.
            return Ok(false);
        }
        self.peak = self.peak.max(desired);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        // The pool bounds tables.
        Ok(true)
    }
}

/// The guest's clocks: the time of day starts at the check's instant, the monotonic clock at the start of the call.
#[derive(Clone)]
struct Clock {
    runtime: Arc<dyn Runtime>,
    begun: Duration,
    now: Duration,
}

impl Clock {
    fn since_begun(&self) -> Duration {
        self.runtime.elapsed().saturating_sub(self.begun)
    }
}

impl HostWallClock for Clock {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        self.now + self.since_begun()
    }
}

impl HostMonotonicClock for Clock {
    fn resolution(&self) -> u64 {
        // In nanoseconds.
        1_000
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since_begun().as_nanos()).unwrap_or(u64::MAX)
    }
}
