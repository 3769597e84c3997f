//! The console in a real browser: `tests/browser/walk.mjs` walks from a denial to its cause and back to an allow, and looks
//! at what only a browser shows.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::Console;
use crate::support::MANAGER;
use crate::support::npm;
use crate::support::openid::{available, say, skip};
use crate::support::process::finish;
use crate::support::tenant::condition;

const SCRIPT: &str = "<img src=x onerror='window.hacked = 1'><script>window.hacked = 1</script>";

#[test]
fn a_browser_walks_from_a_denial_to_its_cause_and_back() {
    let Some(chromium) = chromium() else { return };
    let Some(folder) = npm::installed("browser", &["walk.mjs"]) else { return };
    // A browser on this machine needs no TLS to a loopback address.
    let console = Console::with(Console::settings().set("PUBLIC_URL", ""));
    let tenant = &console.tenant;
    let shift = json!({"type": "GROUP", "operator": "AND", "children": [
        condition("user.ward", "eq", "er"), condition("user.on_shift", "eq", true),
    ]});
    let policy = tenant.policy("own ward", "chart:read", "allow", 10, &shift);
    tenant.policy(SCRIPT, "chart:*", "deny", 1, &condition("user.name", "eq", SCRIPT));
    tenant.rule("admin", "chart:read", "write", "allow");
    let other = json!({"type": "GROUP", "operator": "AND", "children": [
        condition("user.ward", "eq", "lab"), condition("user.on_shift", "eq", true),
    ]});
    let path = format!("PUT /api/v1/abac/policies/{policy}");
    tenant.manage(&path, &json!({"rule_data": other})).is(200);

    let check = json!({
        "subject": "ann", "resource": "chart:read", "action": "read", "roles": [SCRIPT],
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
    let mut node = Command::new("node");
    node.arg(folder.join("walk.mjs")).arg(house.to_string()).arg(pictures);
    node.env("CHROMIUM", chromium).current_dir(folder);
    let done = finish(node);
    say(&done.out);
    assert_eq!(done.code, Some(0), "{}\n{}", done.out, done.err);
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
            let done = finish(apt);
            if done.code != Some(0) {
                say(&done.err);
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
