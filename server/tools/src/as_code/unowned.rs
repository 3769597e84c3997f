//! `portcullis drift --unowned`: lists what decides and has no owner (`docs/semantics.md`, section 10.2).

use std::io::Write;
use std::process::ExitCode;

use portcullis_model::apply::{DecidingList, ObjectKind};
use serde_json::{Value, json};
use strum::VariantArray;

use super::lines::object;
use super::plan::CHANGES;
use crate::report::{Report, ReportArguments, ReportEntry, Section, Sign};
use crate::service::Service;

/// Prints what decides and has no owner. The exit code is 0 without any, and 2 with some.
///
/// # Errors
/// The service gives no answer, or refuses one of the lists.
pub(super) async fn run(
    service: &Service,
    arguments: ReportArguments,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<ExitCode> {
    let mut found = Vec::new();
    for kind in ObjectKind::VARIANTS {
        let Some(DecidingList { route, members, decides }) = kind.facts().deciding else {
            continue;
        };
        let records = service.list(route).await?;
        let unowned = records.iter().filter(|one| one["managed_by"].is_null() && decides(one));
        let mut names: Vec<String> = unowned.map(|one| name(one, members)).collect();
        names.sort_unstable();
        found.extend(names.into_iter().map(|name| (kind.into_str(), name)));
    }
    out.write_all(shown(&found, arguments).as_bytes())?;
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHANGES) })
}

fn shown(found: &[(&str, String)], arguments: ReportArguments) -> String {
    let title = match found.is_empty() {
        true => "everything that decides has an owner",
        false => "these decide and have no owner",
    };
    let entries =
        found.iter().map(|(kind, name)| ReportEntry::new(Sign::Added, object(kind, name)));
    let section = Section::main("differences", "").with_entries(entries.collect());
    let report = Report::new(title, "Portcullis: no owner").section(section);
    report.shown(arguments, || {
        let unowned = found.iter().map(|(kind, name)| json!({"kind": kind, "name": name}));
        format!("{}\n", json!({"unowned": unowned.collect::<Vec<_>>()}))
    })
}

/// Returns the members of a record that name it.
fn name(record: &Value, members: &[&str]) -> String {
    let texts: Vec<&str> = members.iter().filter_map(|member| record[*member].as_str()).collect();
    texts.join(", ")
}
