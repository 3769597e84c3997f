//! Modules that cost their compiler far more than their size. They are refused before the compilation, or end the
//! compiler's process, and the resolvers of other tenants go on.

use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};

use portcullis_test_guests::CostlyFunctions;
use serde_json::json;

use crate::support::process::portcullis;
use crate::support::resolver::{Form, RESOLVERS, directory, guest};
use crate::support::{Provider, Reply, Server, Settings, Tenant, eventually};

/// A module of 1 MiB that took 9 GB and 49 s in version 0.1.
const BEYOND: CostlyFunctions =
    CostlyFunctions { count: 2, parameters: 0, locals: 50_000, loops: 10 };
/// A module within the limits of structure whose compilation takes some 300 MiB and some seconds.
const WITHIN: CostlyFunctions =
    CostlyFunctions { count: 1, parameters: 0, locals: 3_000, loops: 80 };

/// The server's tenants.
fn tenants(server: &Server) -> [Tenant<'static>; 2] {
    ["attacker", "neighbour"].map(|name| Tenant::with_provider(server, Provider::shared(), name))
}

fn costly(functions: CostlyFunctions) -> Form {
    Form::new(&directory("costly"), &functions.added_to(&guest("directory")))
}

/// Uploads a module until the answer says what came of it. On a busy machine a compilation outlasts a request.
fn uploaded(tenant: &Tenant<'_>, form: &Form) -> Reply {
    let upload = || tenant.upload(format!("POST {RESOLVERS}"), form);
    let reply = std::iter::repeat_with(upload).find(|reply| reply.status != 503);
    reply.expect("an answer")
}

/// Runs the compiler on a module. Returns its exit status, the size of its output, and its words.
fn compile(module: &[u8], memory_mib: u64, seconds: u64) -> (ExitStatus, usize, String) {
    let (memory, seconds) = ((memory_mib << 20).to_string(), seconds.to_string());
    let mut command = portcullis(&["compile-component"]);
    command.args(["--memory-bytes", &memory, "--processor-seconds", &seconds]);
    command.env("RAYON_NUM_THREADS", "1").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    child.stdin.take().expect("a pipe").write_all(module).expect("it reads");
    let (mut code, mut words) = (Vec::new(), String::new());
    child.stdout.take().expect("a pipe").read_to_end(&mut code).expect("reads");
    child.stderr.take().expect("a pipe").read_to_string(&mut words).expect("reads");
    (child.wait().expect("it ends"), code.len(), words)
}

#[test]
fn the_compiler_limits_itself() {
    let module = WITHIN.added_to(&guest("directory"));
    const SIGABRT: i32 = 6;
    const SIGXCPU: i32 = 24;
    let (status, code, words) = compile(&module, 256, 600);
    assert_eq!((status.signal(), code), (Some(SIGABRT), 0), "{words}");
    let (status, code, words) = compile(&module, 4_096, 1);
    assert_eq!((status.signal(), code), (Some(SIGXCPU), 0), "{words}");
    // Control: without these limits the module compiles.
    let (status, code, words) = compile(&module, 4_096, 600);
    assert!(status.success() && code > 100_000, "{status} {code} {words}");
    // A faulty module is the fault of its author, and the words say what is wrong.
    let (status, code, words) = compile(b"\0asm\x0d\0\x01\0\x01", 1_024, 600);
    assert_eq!((status.code(), code), (Some(3), 0), "{words}");
    assert!(words.contains("offset"), "{words}");
}

#[test]
fn a_costly_module_is_refused_and_its_function_named() {
    let tenant = Tenant::new();
    let refused = tenant.upload(format!("POST {RESOLVERS}"), &costly(BEYOND)).invalid();
    assert_eq!(refused.text_of_details("path"), "/module");
    let fault =
        "function 0 of core module 3 has 50000 parameters and locals: at most 10000 are accepted";
    assert!(refused.message().contains(fault), "{}", refused.message());
}

#[test]
fn a_compiler_that_takes_too_much_harms_its_tenant_alone() {
    let settings = Settings::new(Provider::shared());
    let server = settings.start();
    let [attacker, neighbour] = tenants(&server);
    // Control: the default limits suffice for the module.
    let id = uploaded(&attacker, &costly(WITHIN)).is(201).id();
    let good = neighbour.directory("hr");
    assert!(server.stop().success());

    // The module that is stored already is too costly for the limits of the next start.
    let less = settings.path("less");
    let server = settings
        .set("RESOLVER_COMPILER_MEMORY", "256MiB")
        .set("RESOLVER_CODE_DIR", less.to_str().expect("in UTF-8"))
        .start();
    let [attacker, neighbour] = tenants(&server);
    let state =
        |tenant: &Tenant<'_>, id: &str| tenant.get(&format!("{RESOLVERS}/{id}")).is(200).json();
    eventually("the neighbour's resolver is ready", || {
        state(&neighbour, &good)["state"] == json!("ready")
    });
    eventually("the costly resolver has failed", || {
        state(&attacker, &id)["state"] == json!("failed")
    });
    let cause = "takes more than 256 MiB of memory";
    let error = state(&attacker, &id)["error"].to_string();
    assert!(error.contains(cause), "{error}");
    // So is a module that comes now, and the neighbour's is not.
    let manifest = json!({"namespace": "again", "config": {"department": "x"}});
    let other = CostlyFunctions { loops: WITHIN.loops + 1, ..WITHIN };
    let form = Form::new(&manifest, &other.added_to(&guest("directory")));
    let refused = uploaded(&attacker, &form).invalid();
    assert!(refused.message().contains(cause), "{}", refused.message());
    neighbour.directory("staff");
}
