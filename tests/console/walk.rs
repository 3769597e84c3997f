//! The console in a real browser: `tests/browser/walk.mjs` walks from a denial to its cause and back to an allow, and looks
//! at what only a browser shows.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::Console;
use crate::setup;
use crate::support::MANAGER;
use crate::support::openid::{available, say, skip};
use crate::support::packages::from_npm;
use crate::support::tenant::condition;

const FILES: [&str; 3] = ["browser.mjs", "paint.mjs", "walk.mjs"];
const SCRIPT: &str = "<img src=x onerror='window.hacked = 1'><script>window.hacked = 1</script>";

#[test]
fn a_browser_walks_from_a_denial_to_its_cause_and_back() {
    // Each mode and each database once.
    if setup::is_saas() != setup::is_postgres() {
        return;
    }
    let Some(chromium) = chromium() else { return };
    let Some(folder) = from_npm("browser", &FILES) else { return };
    // A browser on this machine needs no TLS to a loopback address.
    let console = Console::with(Console::settings().set("PUBLIC_URL", ""));
    let tenant = &console.tenant;
    let shift = json!({"type": "AND", "children": [
        condition("user.ward", "eq", "er"), condition("user.on_shift", "eq", true),
    ]});
    let policy = tenant.policy("own ward", "chart:read", "allow", 10, &shift);
    tenant.policy(SCRIPT, "chart:write", "deny", 1, &condition("user.name", "eq", SCRIPT));
    tenant.rule("admin", "chart:read", "write", "allow");
    let other = json!({"type": "AND", "children": [
        condition("user.ward", "eq", "lab"), condition("user.on_shift", "eq", true),
    ]});
    let path = format!("PUT /api/v1/abac/policies/{policy}");
    tenant.manage(&path, &json!({"rule_data": other})).is(200);

    let check = json!({
        "subject": "ann", "resource": "chart:read", "action": "read",
        "attributes": {"user": {"ward": "er", "on_shift": true}},
    });
    let house = json!({
        "url": format!("http://{}", console.server.address),
        "link": console.link("ines", &["admin"]),
        "tenant": console.page(""),
        "check": check,
        "token": tenant.token("boss", &[MANAGER]),
        "policy": "own ward",
    });
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures").join(console.name());
    run(&folder, &chromium, &["walk.mjs", &house.to_string(), pictures.to_str().expect("text")]);
}

/// The bars of the specification, section 6: with many policies and decisions, beside a bare page of the same bytes.
#[test]
#[ignore = "prints measurements"]
fn measurements_of_the_first_paint() {
    let (Some(chromium), Some(folder)) = (chromium(), from_npm("browser", &FILES)) else {
        return;
    };
    let console = Console::with(Console::settings().set("PUBLIC_URL", ""));
    let tenant = &console.tenant;
    let policy = |number: usize| {
        json!({
            "name": format!("policy {number}"), "resource": format!("chart:read-{number}"), "effect": "allow",
            "priority": 1, "rule_data": condition("user.ward", "eq", format!("ward {number}")),
        })
    };
    let bundle = json!({"policies": (0..10_000).map(policy).collect::<Vec<_>>()});
    tenant.manage("POST /api/v1/apply", &json!({"owner": "git:acme", "bundle": bundle})).is(200);
    for batch in 0..100 {
        let check = |number: usize| {
            let resource = format!("chart:read-{}", 100 * batch + number % 100);
            let ward = format!("ward {}", number % 300);
            json!({
                "subject": format!("ann-{number}"), "resource": resource, "action": "read",
                "attributes": {"user": {"ward": ward}},
            })
        };
        let checks: Vec<_> = (0..1_000).map(check).collect();
        tenant.manage("POST /api/v1/checks", &json!({"checks": checks})).is(200);
    }
    let house = json!({
        "url": format!("http://{}", console.server.address),
        "link": console.link("ines", &["admin"]),
        "tenant": console.page(""),
        "pages": ["decisions", "decisions?subject=ann-7", "policies", "access", "changes", "ask", "resources"],
    });
    run(&folder, &chromium, &["paint.mjs", &house.to_string()]);
}

/// Runs a script in `folder`, without a limit of time: a busy machine takes minutes.
#[track_caller]
fn run(folder: &Path, chromium: &Path, arguments: &[&str]) {
    let mut node = Command::new("node");
    node.args(arguments).env("CHROMIUM", chromium).current_dir(folder);
    let done = node.output().expect("node");
    let (seen, fault) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    say(&seen);
    assert!(done.status.success(), "{seen}\n{fault}");
}

/// Returns the path of Chromium, which it installs where root may do that. `None` where there is none.
fn chromium() -> Option<PathBuf> {
    let found = || {
        let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
        named.or_else(|| {
            let names = ["chromium", "google-chrome", "chromium-browser"];
            let folders = std::env::split_paths(&std::env::var_os("PATH")?).collect::<Vec<_>>();
            let all = names.iter().flat_map(|name| folders.iter().map(move |one| one.join(name)));
            all.into_iter().find(|path| path.is_file())
        })
    };
    if found().is_none() && available("apt-get") {
        say("installing Chromium with apt-get");
        for arguments in
            [&["update"][..], &["install", "-y", "--no-install-recommends", "chromium"]]
        {
            let mut apt = Command::new("apt-get");
            apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
            let done = apt.output().expect("apt-get");
            if !done.status.success() {
                say(&String::from_utf8_lossy(&done.stderr));
            }
        }
    }
    let found = found();
    if found.is_none() {
        skip(
            "the walk through the console needs Chromium: `apt-get install chromium`, or `CHROMIUM`",
        );
    }
    found
}
