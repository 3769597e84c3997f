//! The admission of a module, and its binding, for a request.

use std::sync::Arc;

use bytes::Bytes;
use portcullis_engine::Invalid;
use portcullis_engine::resolver_contract::MODULE_BYTES;
use portcullis_model::resolver::Manifest;
use portcullis_resolver_host::{CallError, GrantError, LoadError, Module};
use portcullis_resolvers::{Binding, BindingError, is_transient};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use tokio::time::{Instant, timeout_at};

/// Admits a module, outside of any transaction. The time of the request ends at `ready_by`.
pub(crate) async fn admit(
    app: &App,
    tenant: &str,
    module: Bytes,
    ready_by: Instant,
) -> Result<Arc<Module>, OperationError> {
    let admitted = timeout_at(ready_by, app.resolvers.admit(tenant, module)).await;
    admitted.map_err(|_| still_compiling())?.map_err(not_admitted)
}

/// Returns the error of a request whose time is over. It must not write any more, because its client is about to get
/// the answer that it failed.
pub(super) fn still_compiling() -> OperationError {
    let what = "the module is still being compiled, and nothing was written; repeat the request later, it is fast \
                after the compilation";
    OperationError::NotNow(what.to_owned())
}

fn not_admitted(error: Arc<LoadError>) -> OperationError {
    match &*error {
        LoadError::Slow(_) | LoadError::Compiler(_) => {
            OperationError::Unavailable("the module compiler", error.into())
        }
        LoadError::Queue => {
            let what = format!("{error}, and nothing was written; try again later");
            OperationError::NotNow(what)
        }
        LoadError::Describe(CallError::Busy(_)) => {
            OperationError::Unavailable("a free resolver instance", error.into())
        }
        LoadError::TooLarge(_) => OperationError::TooLarge(MODULE_BYTES),
        host if is_transient(host) => OperationError::Internal(error.into()),
        module => {
            let expected = format!("a valid resolver component, but {module}");
            Invalid::expected("/module", expected).into()
        }
    }
}

/// Grants a module what `manifest` has for it. The manifest stands at the JSON pointer `at` of the request.
pub(crate) fn bind(
    app: &App,
    tenant: &str,
    module: Arc<Module>,
    manifest: &Manifest,
    at: &str,
) -> Result<Binding, OperationError> {
    app.resolvers.bind(tenant, module, manifest).map_err(|error| {
        let path = match &error {
            BindingError::Module(GrantError::MissingKey(_) | GrantError::UnknownKey(_)) => {
                "/config"
            }
            BindingError::Module(GrantError::MissingEndpoint(_)) | BindingError::Header(_) => {
                "/endpoints"
            }
            BindingError::Module(GrantError::Limit(_)) => "/limits",
        };
        let expected = format!("a manifest that fits the module, but {error}");
        Invalid::expected(path, expected).under(at).into()
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_condition_of_the_host_is_no_fault_of_the_module() {
        let busy = CallError::Busy(Duration::from_secs(120));
        let (slow, late) = (Duration::from_secs(120), CallError::TimedOut(Duration::from_secs(5)));
        let is_unavailable = |error: &_| matches!(error, OperationError::Unavailable(..));
        let is_internal = |error: &_| matches!(error, OperationError::Internal(_));
        let is_too_large = |error: &_| matches!(error, OperationError::TooLarge(MODULE_BYTES));
        let is_invalid = |error: &_| matches!(error, OperationError::Invalid(_));
        type Check = fn(&OperationError) -> bool;
        let rows: [(LoadError, Check); 12] = [
            (LoadError::Describe(busy), is_unavailable),
            (LoadError::Slow(slow), is_unavailable),
            (LoadError::Describe(CallError::Host), is_internal),
            (LoadError::Host, is_internal),
            (LoadError::TooLarge(MODULE_BYTES + 1), is_too_large),
            (LoadError::Compiler("signal: 11".to_owned()), is_unavailable),
            (LoadError::Queue, |error| matches!(error, OperationError::NotNow(_))),
            (LoadError::Structure("too many".to_owned()), is_invalid),
            (LoadError::Memory(1 << 30), is_invalid),
            (LoadError::ProcessorTime(slow), is_invalid),
            (LoadError::Describe(late), is_invalid),
            (LoadError::Compile("a fault".to_owned()), is_invalid),
        ];
        for (error, is_expected) in rows {
            let cause = error.to_string();
            let error = not_admitted(Arc::new(error));
            assert!(is_expected(&error), "{cause}: {error:?}");
        }
    }

    #[test]
    fn an_admission_beyond_its_deadline_is_answered_with_retry() {
        assert!(matches!(still_compiling(), OperationError::NotNow(_)));
    }
}
