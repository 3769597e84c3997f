//! The imports of a guest: the interfaces of the contract, and the parts of WASI that a standard library needs.

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Engine, Result, bail};
use wasmtime_wasi::cli::{WasiCli, WasiCliView as _};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView as _};
use wasmtime_wasi::p2::bindings as wasi;
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{ResourceTable, WasiCtxView, WasiView};

use crate::bindings::Guest;
use crate::bindings::portcullis::resolver::{config, http, log, types};
use crate::contract::{Failure, HttpRequest, HttpResponse, Level};
use crate::environment::SendError;
use crate::error::CallError;
use crate::limits::{HTTP_BODY_BYTES, HTTP_REQUESTS};
use crate::log::cut;
use crate::store::CallState;

/// The offered interfaces. Files and sockets are absent: a component that imports them is refused by name.
pub(crate) const OFFERED: [&str; 20] = [
    "portcullis:resolver/config",
    "portcullis:resolver/http",
    "portcullis:resolver/log",
    "portcullis:resolver/types",
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random",
];

/// Returns whether an import is offered, in any version.
pub(crate) fn is_offered(import: &str) -> bool {
    let name = import.split('@').next().unwrap_or(import);
    OFFERED.iter().any(|offered| {
        // An offered name may be a whole package, as `wasi:random` is.
        name.strip_prefix(offered).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Makes the linker of all offered interfaces.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<CallState>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    Guest::add_to_linker::<_, HasSelf<CallState>>(l, |state| state)?;
    wasi::io::error::add_to_linker::<CallState, HasIo>(l, |state| &mut state.table)?;
    wasi::io::poll::add_to_linker::<CallState, HasIo>(l, |state| &mut state.table)?;
    wasi::io::streams::add_to_linker::<CallState, HasIo>(l, |state| &mut state.table)?;
    wasi::cli::environment::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    wasi::cli::exit::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    wasi::cli::stdin::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    wasi::cli::stdout::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    wasi::cli::stderr::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    wasi::cli::terminal_input::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    wasi::cli::terminal_output::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    wasi::cli::terminal_stdin::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    wasi::cli::terminal_stdout::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    wasi::cli::terminal_stderr::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    wasi::clocks::wall_clock::add_to_linker::<CallState, WasiClocks>(l, CallState::clocks)?;
    wasi::clocks::monotonic_clock::add_to_linker::<CallState, WasiClocks>(l, CallState::clocks)?;
    wasi::random::random::add_to_linker::<CallState, WasiRandom>(l, |state| state.wasi.random())?;
    wasi::random::insecure::add_to_linker::<CallState, WasiRandom>(l, |state| state.wasi.random())?;
    wasi::random::insecure_seed::add_to_linker::<CallState, WasiRandom>(l, |state| {
        state.wasi.random()
    })?;
    Ok(linker)
}

/// Gives `wasi:io` access to the resource table alone.
struct HasIo;

impl wasmtime::component::HasData for HasIo {
    type Data<'a> = &'a mut ResourceTable;
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl types::Host for CallState {}

impl log::Host for CallState {
    fn emit(&mut self, level: Level, message: String) -> Result<()> {
        self.log.push(level, message);
        Ok(())
    }
}

impl config::Host for CallState {
    fn get(&mut self, key: String) -> Result<Option<String>> {
        let Some(grant) = &self.grant else {
            bail!(refused("`describe` may log, and nothing else"));
        };
        Ok(grant.config.get(&key).cloned())
    }
}

impl http::Host for CallState {
    async fn send(
        &mut self,
        endpoint: String,
        request: HttpRequest,
    ) -> Result<Result<HttpResponse, Failure>> {
        // A second `Arc`, because `self` is changed while the grant is used.
        let Some(grant) = self.grant.clone() else {
            bail!(refused("`describe` may log, and nothing else"));
        };
        if !grant.endpoints.has(&endpoint) {
            let name = cut(endpoint);
            bail!(refused(format!("endpoint `{name}` is not granted")));
        }
        if self.requests == HTTP_REQUESTS {
            bail!(refused(format!("more than {HTTP_REQUESTS} requests in one call")));
        }
        // Counted before it is sent: a failed request counts as well.
        self.requests += 1;
        match grant.endpoints.send(&endpoint, request, HTTP_BODY_BYTES).await {
            // The bound holds even if `send` does not keep it.
            Ok(response) if response.body.len() <= HTTP_BODY_BYTES => Ok(Ok(response)),
            Err(SendError::Failed(failure)) => Ok(Err(failure)),
            Err(SendError::Refused(why)) => bail!(refused(cut(why))),
            Ok(_) | Err(SendError::TooLarge) => {
                let kib = HTTP_BODY_BYTES >> 10;
                bail!(refused(format!("the response of `{endpoint}` has more than {kib} KiB")))
            }
        }
    }
}

/// Makes the error that ends a call, so that a guest cannot mistake it for an answer.
fn refused(why: impl Into<String>) -> CallError {
    CallError::Refused(why.into())
}
