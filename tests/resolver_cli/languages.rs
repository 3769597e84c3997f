//! The sample resolvers in other languages. The tools of these languages build them, and the host runs them. npm and pip
//! install the tools under `target`. If that is not possible, the tests say so and pass, except with `CI=true`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{resolver, succeeds};
use crate::support::openid::{available, say, skip};
use crate::support::process::repository;

fn sample(name: &str) -> PathBuf {
    repository().join("policies/resolvers").join(name)
}

/// Returns a folder under `target` with the files of a sample. Runs `install` in it once for each content of `lock`.
fn installed(
    name: &str,
    files: &[&str],
    lock: &str,
    install: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a directory");
    for file in files {
        std::fs::copy(sample(name).join(file), folder.join(file)).expect("a copy");
    }
    let (done, wanted) =
        (folder.join("installed"), std::fs::read(folder.join(lock)).expect("a lock file"));
    if std::fs::read(&done).ok().as_ref() != Some(&wanted) {
        say(&format!("installing what builds the resolver `{name}` in {}", folder.display()));
        if !install(&folder) {
            skip(&format!("what builds the resolver `{name}` cannot be installed"));
            return None;
        }
        std::fs::write(done, wanted).expect("a note of that");
    }
    Some(folder)
}

fn runs(command: &mut Command) -> bool {
    let output = command.stdin(Stdio::null()).output();
    if let Ok(output) = &output
        && !output.status.success()
    {
        say(&String::from_utf8_lossy(&output.stderr));
    }
    output.is_ok_and(|output| output.status.success())
}

/// Writes the manifest of a sample beside a component, with the longest timeout: an interpreter may start on a busy machine.
fn patient_manifest(name: &str, component: &Path) -> PathBuf {
    let text = std::fs::read(sample(name).join("manifest.json")).expect("a manifest");
    let mut manifest: Value = serde_json::from_slice(&text).expect("JSON");
    manifest["limits"] = json!({"timeout_ms": 30_000});
    let written = component.with_file_name("manifest.json");
    std::fs::write(&written, manifest.to_string()).expect("it is written");
    written
}

/// Runs a component on the checks of its sample.
#[track_caller]
fn passes(name: &str, component: &Path) {
    let (manifest, checks) = (patient_manifest(name, component), sample(name).join("checks.json"));
    let [component, manifest, checks] =
        [component, &manifest, &checks].map(|path| path.to_str().unwrap());
    let done =
        resolver(&["test", component, "--manifest", manifest, "--checks", checks], repository());
    assert!(succeeds(&done).ends_with(" passed, 0 failed\n"), "{}", done.out);
    let shown = resolver(&["inspect", component], repository());
    assert!(!succeeds(&shown).contains("wasi:"), "it can do nothing but resolve: {}", shown.out);
}

#[test]
fn a_resolver_in_javascript() {
    if !available("node") || !available("npm") {
        return skip("a resolver in JavaScript needs `node` and `npm`");
    }
    let name = "risk-score";
    let files = ["package.json", "build.mjs", "resolver.mjs"];
    let npm = |folder: &Path| {
        let mut npm = Command::new("npm");
        runs(
            npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
                .current_dir(folder),
        )
    };
    let Some(folder) = installed(name, &files, "package.json", npm) else { return };
    let component = folder.join("risk-score.wasm");
    let mut build = Command::new("node");
    build.arg(folder.join("build.mjs")).arg(repository().join("guest-sdk/wit")).arg(&component);
    assert!(runs(&mut build), "it builds");
    passes(name, &component);
}

#[test]
fn a_resolver_in_python() {
    if !available("python3") {
        return skip("a resolver in Python needs `python3` with pip");
    }
    let name = "working-group";
    let pip = |folder: &Path| {
        let environment = folder.join("environment");
        let requirements = folder.join("requirements.txt");
        runs(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))
            && runs(
                Command::new(environment.join("bin/pip"))
                    .args(["install", "--quiet", "-r"])
                    .arg(requirements),
            )
    };
    let files = ["requirements.txt", "app.py", "build.sh"];
    let Some(folder) = installed(name, &files, "requirements.txt", pip) else { return };
    let component = folder.join("working-group.wasm");
    let mut path = folder.join("environment/bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut build = Command::new("sh");
    build.arg(folder.join("build.sh")).arg(repository().join("guest-sdk/wit")).arg(&component);
    assert!(runs(build.env("PATH", path)), "it builds");
    passes(name, &component);
}
