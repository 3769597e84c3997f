//! The results of a tenant's cases, and their text.

use std::io::{self, Write};

use super::cases::CaseResult;
use super::coverage::Coverage;
use super::folders::TenantFolder;

/// The most names in the note about what decides no case.
const MAX_SILENT: usize = 5;

/// The results of a tenant's cases.
pub(super) struct TenantResults<'f> {
    pub(super) found: &'f TenantFolder,
    pub(super) cases: Vec<CaseResult<'f>>,
    pub(super) coverage: Coverage,
}

impl TenantResults<'_> {
    /// Returns the tenant's id.
    pub(super) fn tenant(&self) -> &str {
        &self.found.bundle.tenant
    }

    /// Returns the number of cases that failed.
    pub(super) fn failed(&self) -> usize {
        self.cases.iter().filter(|case| !case.passed()).count()
    }

    /// Writes a line for each case, and the cause of each failure.
    pub(super) fn write_cases(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "tenant {} ({})", self.tenant(), self.found.folder.display())?;
        for result in &self.cases {
            let verdict = if result.passed() { "ok    " } else { "FAILED" };
            writeln!(out, "  {verdict}  {}", result.case.name)?;
            for (label, text) in result.lines() {
                writeln!(out, "          {label:<8}  {text}")?;
            }
        }
        Ok(())
    }

    /// Writes a line for each warning about the folder.
    pub(super) fn write_warnings(&self, out: &mut dyn Write) -> io::Result<()> {
        for warning in &self.found.bundle.warnings {
            writeln!(out, "  warning: {warning}")?;
        }
        Ok(())
    }

    /// Writes a note about the policies and rules that decide no case. No case fails if one of these breaks.
    pub(super) fn write_note(&self, out: &mut dyn Write) -> io::Result<()> {
        let (silent, all) = self.coverage.silent();
        if silent.is_empty() {
            return writeln!(
                out,
                "  note: each of the {all} policies and rules decides at least one case"
            );
        }
        let count = silent.len();
        writeln!(out, "  note: {count} of {all} policies and rules decide no case:")?;
        for name in silent.iter().take(MAX_SILENT) {
            writeln!(out, "          `{name}`")?;
        }
        match count.saturating_sub(MAX_SILENT) {
            0 => Ok(()),
            more => writeln!(out, "          and {more} more; `--coverage` shows all"),
        }
    }
}
