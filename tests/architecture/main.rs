//! Checks the structure of the workspace and the words of its code. A file per rule; each has a negative control, which
//! gives the rule a small input with one fault and expects that the rule finds it.
//!
//! `cargo test -p portcullis-architecture circles` lists the circles of modules.

mod circles;
mod citations;
mod crate_graph;
mod doc_comments;
mod documents;
mod drawing;
mod engine_alone;
mod module_tree;
mod named_crates;
mod paths;
mod quoted_code;
mod rooms;
mod source;
mod type_names;
mod words;
mod workspace;

/// Fails with all `faults` of a rule, one per line.
fn expect_none(faults: &[String]) -> anyhow::Result<()> {
    anyhow::ensure!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    Ok(())
}
