//! Few places may name the database, the web framework, the WebAssembly runtime, threads, decision plans, the environment
//! and the clock.

use std::path::Path;

use crate::paths::{each_identifier, paths_of};
use crate::source::{Module, product_crates};
use crate::{expect_none, workspace};
use quote::ToTokens;
use syn::Item;

/// Something that few places may name.
struct Rule {
    /// Consecutive segments of a path.
    named: &'static [&'static str],
    /// Whether the path must begin with them.
    at_start: bool,
    /// The files and folders that may name it, with the reason.
    allowed: &'static [&'static str],
}

const RULES: [Rule; 12] = [
    Rule { named: &["sqlx"], at_start: true, allowed: &["server/storage/src"] },
    // `dev` serves a sample identity provider.
    Rule {
        named: &["axum"],
        at_start: true,
        allowed: &["server/http/src", "server/api/src", "server/console/src", "server/src/dev"],
    },
    // An answer in JSON is `respond::Json`, whose memory is charged.
    Rule { named: &["axum", "Json"], at_start: true, allowed: &["server/src/dev"] },
    Rule { named: &["wasmtime"], at_start: true, allowed: &["engine/resolver-host/src"] },
    // A limit on requests is a `TurnQueue`, which is fair between tenants.
    Rule {
        named: &["tokio", "sync", "Semaphore"],
        at_start: true,
        allowed: &["engine/fairness/src"],
    },
    // `run_apart` passes a panic on.
    Rule {
        named: &["tokio", "task", "spawn_blocking"],
        at_start: true,
        allowed: &["engine/fairness/src"],
    },
    // A handler, an importer and the store ask for a decision: those that have a plan decide by `OpenQuestion`.
    Rule {
        named: &["portcullis_engine", "Plan"],
        at_start: true,
        allowed: &[
            "engine/plan-cache/src",
            "server/bundle/src",
            "server/operations/src",
            "server/replay/src",
            "server/runtime/src",
            "server/tools/src",
        ],
    },
    Rule { named: &["std", "env"], at_start: true, allowed: &["server/config/src"] },
    Rule { named: &["Utc", "now"], at_start: false, allowed: &["server/model/src/clock.rs"] },
    Rule { named: &["Local", "now"], at_start: false, allowed: &["server/model/src/clock.rs"] },
    Rule {
        named: &["SystemTime", "now"],
        at_start: false,
        allowed: &["server/model/src/clock.rs"],
    },
    // A use case takes its write turn itself: no handler hands one over.
    Rule {
        named: &["WriteTurn"],
        at_start: false,
        allowed: &["server/storage/src", "server/runtime/src", "server/operations/src/changes"],
    },
];

/// The one file with `unsafe` code: it maps code that the host compiled before.
const UNSAFE: &str = "engine/resolver-host/src/compiled.rs";

/// Returns the places of a module that name what only other places may.
fn faults(module: &Module) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    add_paths(&module.items, &module.file, &mut faults)?;
    if module.file != Path::new(UNSAFE) {
        let mut visit = |name: String, line| {
            if name == "unsafe" {
                faults.push(format!(
                    "{}:{line} is unsafe: only {UNSAFE} may be",
                    module.file.display()
                ));
            }
        };
        module.items.iter().for_each(|item| each_identifier(item.to_token_stream(), &mut visit));
    }
    Ok(faults)
}

fn add_paths(items: &[Item], file: &Path, faults: &mut Vec<String>) -> anyhow::Result<()> {
    for item in items {
        for path in paths_of(item)? {
            for rule in RULES.iter().filter(|rule| rule.names(&path.segments) && !rule.allows(file))
            {
                let (named, allowed) = (rule.named.join("::"), rule.allowed.join(" and "));
                faults.push(format!(
                    "{}:{} names `{named}`: only {allowed} may",
                    file.display(),
                    path.line
                ));
            }
        }
        if let Item::Mod(module) = item
            && let Some((_, items)) = &module.content
        {
            add_paths(items, file, faults)?;
        }
    }
    Ok(())
}

impl Rule {
    fn names(&self, segments: &[String]) -> bool {
        // A crate alone is no more than a variable of that name; an import of it names it.
        match self.at_start {
            true => {
                segments.iter().zip(self.named).all(|(a, b)| a == b)
                    && segments.len() >= self.named.len()
            }
            false => segments.windows(self.named.len()).any(|window| window == self.named),
        }
    }

    fn allows(&self, file: &Path) -> bool {
        self.allowed.iter().any(|allowed| file.starts_with(allowed))
    }
}

#[test]
fn only_their_owners_name_the_crates_and_the_clock() -> anyhow::Result<()> {
    let mut found = Vec::new();
    for package in product_crates(&workspace::metadata()?)? {
        for module in &package.modules {
            found.extend(faults(module)?);
        }
    }
    expect_none(&found)
}

#[test]
fn a_forbidden_name_is_found() -> anyhow::Result<()> {
    let cases = [
        "use sqlx::Row;",
        "mod a { fn f() -> axum::Router {} }",
        "fn f() { wasmtime::Engine::default(); }",
        "use portcullis_engine::{Check, Plan};",
        "use std::{env, fmt};",
        "use tokio::sync::{Semaphore, watch};",
        "fn f() { tokio::task::spawn_blocking(|| {}); }",
        "fn f() { chrono::Utc::now(); }",
        "fn f() { unsafe {} }",
    ];
    for text in cases {
        let found = faults(&crate::source::module(&["sample"], text)?)?;
        anyhow::ensure!(found.len() == 1, "`{text}`: {found:?}");
    }
    anyhow::ensure!(
        faults(&crate::source::module(&["sample"], "fn f(env: Env) { env.now() }")?)?.is_empty()
    );
    Ok(())
}
