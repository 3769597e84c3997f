//! `portcullis matrix` and `portcullis diff`: the decisions of a tenant folder, and the change between two
//! (`docs/semantics.md`, sections 2.12 and 2.13).

mod cases;
mod difference;
mod lines;
mod relations;
mod residual;
mod shared;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use portcullis_bundle::Bundle;
use portcullis_bundle::matrix::{DecisionSet, MatrixFilter, MatrixTable, impact, table};
use portcullis_engine::ResourcePattern;
use serde::Serialize;

pub use cases::{CaseChange, CaseChanges};
pub use difference::MatrixDiff;
pub(crate) use lines::impact as impact_section;
pub use relations::RelationChange;

use crate::remote_arguments::RemoteArguments;
use crate::report::{Report, Section, ShownActions, TableArguments};

/// The exit code of a comparison if a decision differs, or not everything could be compared.
const DIFFERENT: u8 = 2;

/// The arguments of `portcullis matrix`.
#[derive(Debug, clap::Args)]
pub struct MatrixArguments {
    /// A tenant folder.
    #[arg(required_unless_present = "url", conflicts_with = "url")]
    pub folder: Option<PathBuf>,
    /// A second tenant folder: print what changes from the first to the second, as `diff` does.
    #[arg(conflicts_with_all = ["role", "resource"])]
    pub other: Option<PathBuf>,
    /// Only this role, also if nothing names it, or this relation, such as `editor@resource`. May be repeated.
    #[arg(long)]
    pub role: Vec<String>,
    /// Only this resource, or the resources of a pattern such as `chart:*`. May be repeated.
    #[arg(long, value_parser = resource_pattern)]
    pub resource: Vec<ResourcePattern>,
    #[command(flatten)]
    pub remote: RemoteArguments,
    /// The RBAC domain to ask the service about, such as a workspace [default: the domain of the token or the service key].
    /// Needed in `saas` mode and with SINGLE_TENANT with a service key that has none.
    #[arg(long, requires = "url")]
    pub domain: Option<String>,
    #[command(flatten)]
    pub table: TableArguments,
}

/// The arguments of `portcullis diff`.
#[derive(Debug, clap::Args)]
pub struct DiffArguments {
    /// The tenant folder before the change.
    pub before: PathBuf,
    /// The tenant folder after the change.
    pub after: PathBuf,
    #[command(flatten)]
    pub table: TableArguments,
}

/// Prints the decisions of a folder, or the change between two.
///
/// # Errors
/// A folder that is not a tenant folder or has a fault; an output that cannot be written.
pub fn run(arguments: &MatrixArguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let MatrixArguments { folder, other, role, resource, table: shown, .. } = arguments;
    let folder = folder.as_ref().context("expected a tenant folder, or a service in --url")?;
    if let Some(other) = other {
        let (before, after) = (folder.clone(), other.clone());
        return diff(&DiffArguments { before, after, table: *shown }, out);
    }
    let bundle = read(folder)?;
    let filter = MatrixFilter { roles: role.clone(), resources: resource.clone() };
    write(&table(&decisions(&bundle), &filter), *shown, out)
}

/// Writes a table of decisions. The exit code is 0 if it is complete, and 1 otherwise.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn write(
    table: &MatrixTable,
    TableArguments { actions, report: arguments }: TableArguments,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let (cells, left_out) = actions.of(&table.cells, &table.others);
    let mut section = lines::table(&cells, table.note.as_deref());
    section.notes.extend(left_out);
    let report = Report::new("", "Portcullis: decisions").section(section);
    // The JSON has the same cells as the text.
    let shown = Shown { actions, report: MatrixTable { cells, ..table.clone() } };
    out.write_all(report.shown(arguments, || json(&shown)).as_bytes())?;
    Ok(if table.complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A report with the actions that it shows.
#[derive(Debug, Serialize)]
struct Shown<R> {
    actions: ShownActions,
    #[serde(flatten)]
    report: R,
}

/// Prints the change of decisions between two folders. The exit code is 0 if there is none, and 2 otherwise.
///
/// # Errors
/// A folder that is not a tenant folder or has a fault; an output that cannot be written.
pub fn diff(arguments: &DiffArguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let TableArguments { actions, report: form } = arguments.table;
    let diff = MatrixDiff {
        impact: impact(&decisions(&before), &decisions(&after), || true),
        cases: cases::changes(&before, &after)?,
        relations: relations::changes(&before, &after),
    };
    let changes = Section::main("decisions that change", "no decision changes");
    let report = Report::new("", "Portcullis: diff")
        .section(lines::impact(&diff.impact, changes, actions))
        .section(lines::relations(&diff.relations))
        .section(lines::cases(&diff.cases));
    // The code depends on the whole difference, and not on what is shown of it.
    let code = if diff.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(DIFFERENT) };
    let shown = Shown { actions, report: diff.showing(actions) };
    out.write_all(report.shown(form, || json(&shown)).as_bytes())?;
    Ok(code)
}

fn read(folder: &Path) -> anyhow::Result<Bundle> {
    Ok(Bundle::read_folder(folder)?)
}

/// Returns what decides in a folder.
pub(crate) fn decisions(bundle: &Bundle) -> DecisionSet<'_> {
    let registered = bundle.resources.iter().map(|resource| &*resource.name);
    DecisionSet::new(&bundle.rulebook, registered)
}

fn json(report: &impl Serialize) -> String {
    // Texts, numbers and lists: there is nothing that could not be written.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

fn resource_pattern(text: &str) -> Result<ResourcePattern, String> {
    let expected = "expected a resource such as `chart:read`, or a pattern: `chart:*` or `*`";
    ResourcePattern::parse(text).ok_or_else(|| expected.to_owned())
}

#[cfg(test)]
mod tests;
