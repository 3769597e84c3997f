//! A compiler in its own process, played by scripts: whatever it does, the host goes on.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{self, BoxFuture, FutureExt as _};
use portcullis_resolver_host::limits::{COMPILATION_QUEUE, COMPILATIONS, COMPILE_TIMEOUT};
use portcullis_resolver_host::{
    Compiler, CompilerLimits, CompilerProcess, HostSettings, LoadError, Module, ResolverHost,
    Runtime,
};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::support::{Tokio, component, host_of, host_with};

/// A compiler that is a shell script, and the directory of the script.
fn scripted_compiler(script: &str) -> (Compiler, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("compiler");
    fs::write(&program, format!("#!/bin/sh\ncd {}\n{script}\n", directory.path().display()))
        .unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let limits = CompilerLimits { memory_bytes: 512 << 20, processor_time: Duration::from_secs(7) };
    (Compiler::Process(CompilerProcess { program, limits }), directory)
}

/// A host with a scripted compiler, and the directory of the script.
fn scripted(script: &str) -> (Arc<ResolverHost>, TempDir) {
    let (compiler, directory) = scripted_compiler(script);
    (host_of(None, true, compiler).0, directory)
}

async fn refused(script: &str) -> LoadError {
    let (host, _directory) = scripted(script);
    host.load(component("directory"), "acme").await.unwrap_err()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_the_compiler_says_what_was_wrong() {
    for (script, expected) in [
        ("cat >/dev/null; echo 'a fault' >&2; exit 3", "the module cannot be compiled: a fault"),
        // A module that is refused need not be read.
        ("echo 'a fault' >&2; exit 3", "the module cannot be compiled: a fault"),
        ("kill -ABRT $$", "its compilation takes more than 512 MiB of memory"),
        ("kill -XCPU $$", "its compilation takes more than 7 s of processor time"),
        ("exit 0", "the compiler failed: its output is not a compiled component"),
        ("cat", "the compiler failed: its output is not a compiled component"),
        ("printf '\\177ELF'", "the compiler failed: its output is not a compiled component"),
        ("head -c 134217729 /dev/zero; exec sleep 600", "the compiled code has more than 128 MiB"),
        ("head -c 100000 /dev/zero >&2; exit 3", "the module cannot be compiled: "),
        ("kill -SEGV $$", "the compiler failed: signal: 11"),
        ("echo 'no memory' >&2; exit 1", "the compiler failed: exit status: 1; no memory"),
    ] {
        let error = refused(script).await.to_string();
        assert!(error.contains(expected), "{script}: {error}");
        assert!(error.len() < 2_000, "{script}: {}", error.len());
    }
    let compiler = Compiler::Process(CompilerProcess {
        program: "/nowhere/compiler".into(),
        limits: CompilerLimits::default(),
    });
    let (host, _) = host_of(None, true, compiler);
    let error = host.load(component("directory"), "acme").await.unwrap_err();
    assert!(matches!(error, LoadError::Compiler(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_compiler_gets_the_module_its_limits_and_no_environment() {
    let script = "cat >module; echo \"$@\" >arguments; /usr/bin/env >environment; exit 3";
    let (host, directory) = scripted(script);
    host.load(component("directory"), "acme").await.unwrap_err();
    let file = |name: &str| fs::read(directory.path().join(name)).unwrap();
    let text = |name: &str| String::from_utf8(file(name)).unwrap();
    assert_eq!(file("module"), component("directory"));
    let arguments = "compile-component --memory-bytes 536870912 --processor-seconds 7\n";
    assert_eq!(text("arguments"), arguments);
    // The shell adds variables of its own.
    let own = ["PWD=", "OLDPWD=", "SHLVL=", "_=", "RAYON_NUM_THREADS=", "MALLOC_ARENA_MAX="];
    let environment = text("environment");
    let inherited: Vec<_> =
        environment.lines().filter(|line| !own.iter().any(|name| line.starts_with(name))).collect();
    assert_eq!(inherited, Vec::<&str>::new());
}

/// Begins to load a component for `tenant`, in a task.
fn load(host: &Arc<ResolverHost>, tenant: &str) -> JoinHandle<Result<Module, LoadError>> {
    let (host, tenant) = (host.clone(), tenant.to_owned());
    tokio::spawn(async move { host.load(component("directory"), &tenant).await })
}

/// Waits until `is_so`.
async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_compiles_one_module_at_a_time_and_others_go_on() {
    // The first compiler that finds no `busy` hangs, every other one refuses its module.
    let script =
        "cat >/dev/null; if mkdir busy 2>/dev/null; then exec sleep 600; fi; echo no >&2; exit 3";
    let (host, directory) = scripted(script);
    let hanging = load(&host, "mine");
    until(|| directory.path().join("busy").exists()).await;
    let waiting = load(&host, "mine");
    for _ in 0..3 {
        let compiled = load(&host, "other").await.unwrap();
        assert!(matches!(compiled, Err(LoadError::Compile(_))), "{compiled:?}");
    }
    assert!(!waiting.is_finished(), "it waits for the first module of its tenant");
    // The process ends with its caller, and the tenant's next module has its turn.
    hanging.abort();
    let next = waiting.await.unwrap();
    assert!(matches!(next, Err(LoadError::Compile(_))), "{next:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_line_of_the_compiler_is_bounded() {
    let (host, directory) = scripted("echo begun >>log; exec sleep 600");
    let begun = || {
        let log = fs::read_to_string(directory.path().join("log"));
        log.map_or(0, |log| log.lines().count())
    };
    let mut loads: Vec<_> =
        (0..COMPILATIONS).map(|one| load(&host, &format!("runs-{one}"))).collect();
    until(|| begun() == COMPILATIONS).await;
    loads.extend((0..COMPILATION_QUEUE).map(|one| load(&host, &format!("waits-{one}"))));
    // All that are too many end at once.
    let refused = loop {
        let one_more = load(&host, "one-more");
        match tokio::time::timeout(Duration::from_millis(100), one_more).await {
            Ok(ended) => break ended.unwrap(),
            // A place was free still: the load that is abandoned here takes it.
            Err(_) => continue,
        }
    };
    assert!(matches!(refused, Err(LoadError::Queue)), "{refused:?}");
    assert_eq!(begun(), COMPILATIONS);
    loads.iter().for_each(JoinHandle::abort);
}

/// A runtime on which the time of a compilation is over at once.
struct Hasty(Arc<Tokio>);

impl Runtime for Hasty {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        if time == COMPILE_TIMEOUT { future::ready(()).boxed() } else { self.0.sleep(time) }
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.0.spawn(task);
    }

    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.spawn_blocking(job);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_bounds_the_compilations_of_tenants_alone() {
    let load = async |compiler| {
        let runtime = Arc::new(Hasty(host_with(None, true).1));
        let settings = HostSettings { instances: 8, compiled: None, compiler };
        let host = ResolverHost::new(&settings, runtime).unwrap();
        host.load(component("directory"), "acme").await
    };
    let (process, _directory) = scripted_compiler("exec sleep 600");
    let slow = load(process).await;
    assert!(matches!(slow, Err(LoadError::Slow(COMPILE_TIMEOUT))), "{slow:?}");
    load(Compiler::InProcess).await.expect("the person who runs it waits");
}
