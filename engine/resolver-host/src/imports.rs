//! What a guest can call: the contract's interfaces, and the parts of WASI that a standard library needs.

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
use crate::error::CallError;
use crate::limits::{HTTP_BODY_BYTES, HTTP_REQUESTS};
use crate::log::cut;
use crate::store::State;
use crate::surroundings::SendError;

/// The interfaces that are offered. Files and sockets are not: a component that imports them is refused by name.
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

/// Whether an import is offered, in some version.
pub(crate) fn is_offered(import: &str) -> bool {
    let name = import.split('@').next().unwrap_or(import);
    OFFERED.iter().any(|offered| {
        name.strip_prefix(offered).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

pub(crate) fn linker(engine: &Engine) -> Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    Guest::add_to_linker::<_, HasSelf<State>>(l, |state| state)?;
    wasi::io::error::add_to_linker::<State, HasIo>(l, |state| &mut state.table)?;
    wasi::io::poll::add_to_linker::<State, HasIo>(l, |state| &mut state.table)?;
    wasi::io::streams::add_to_linker::<State, HasIo>(l, |state| &mut state.table)?;
    wasi::cli::environment::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::exit::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::terminal_input::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::terminal_output::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::terminal_stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::terminal_stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::terminal_stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::clocks::wall_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;
    wasi::clocks::monotonic_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;
    wasi::random::random::add_to_linker::<State, WasiRandom>(l, |state| state.wasi.random())?;
    wasi::random::insecure::add_to_linker::<State, WasiRandom>(l, |state| state.wasi.random())?;
    wasi::random::insecure_seed::add_to_linker::<State, WasiRandom>(l, |state| {
        state.wasi.random()
    })?;
    Ok(linker)
}

/// `wasi:io` works on the table alone.
struct HasIo;

impl wasmtime::component::HasData for HasIo {
    type Data<'a> = &'a mut ResourceTable;
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl types::Host for State {}

impl log::Host for State {
    fn emit(&mut self, level: Level, message: String) -> Result<()> {
        self.log.push(level, message);
        Ok(())
    }
}

impl config::Host for State {
    fn get(&mut self, key: String) -> Result<Option<String>> {
        let Some(grant) = &self.grant else {
            bail!(refused("`describe` may log, and nothing else"));
        };
        Ok(grant.config.get(&key).cloned())
    }
}

impl http::Host for State {
    async fn send(
        &mut self,
        endpoint: String,
        request: HttpRequest,
    ) -> Result<Result<HttpResponse, Failure>> {
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
        self.requests += 1;
        match grant.endpoints.send(&endpoint, request, HTTP_BODY_BYTES).await {
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

fn refused(why: impl Into<String>) -> CallError {
    CallError::Refused(why.into())
}
