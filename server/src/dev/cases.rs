//! The cases of a folder, run after each reload.

use std::fmt;
use std::path::Path;

use portcullis_bundle::Bundle;
use portcullis_config::Variables;
use portcullis_tools::policy_test::{ReportedCase, failed_cases};

/// The most failed cases that are shown.
const MAX_SHOWN: usize = 10;

/// The results of the cases of a folder.
#[derive(Debug, PartialEq)]
pub(super) struct CaseResults {
    count: usize,
    failed: Vec<ReportedCase>,
    /// The reason why the cases cannot be run.
    fault: Option<String>,
}

impl CaseResults {
    /// Runs every case of `bundle`, as `portcullis test` does.
    pub(super) async fn new(folder: &Path, bundle: &Bundle, variables: &Variables) -> Self {
        let count = bundle.cases.len();
        match failed_cases(folder, bundle, variables).await {
            Ok(failed) => Self { count, failed, fault: None },
            Err(error) => Self { count, failed: vec![], fault: Some(error.to_string()) },
        }
    }

    /// Returns whether every case was run and has the expected decision.
    pub(super) fn all_pass(&self) -> bool {
        self.failed.is_empty() && self.fault.is_none()
    }

    /// Returns a summary such as `4 of 5 cases pass`.
    pub(super) fn summary(&self) -> String {
        match (self.count, self.failed.len(), &self.fault) {
            (_, _, Some(fault)) => format!("the cases cannot be run: {fault}"),
            (0, ..) => "there is no case".to_owned(),
            (1, 0, None) => "the case passes".to_owned(),
            (count, 0, None) => format!("all {count} cases pass"),
            (count, failed, None) => format!("{} of {count} cases pass", count - failed),
        }
    }
}

impl fmt::Display for CaseResults {
    /// Writes the failed cases, in the form of `portcullis test`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ReportedCase { name, lines } in self.failed.iter().take(MAX_SHOWN) {
            writeln!(f, "  FAILED  {name}")?;
            for (label, text) in lines {
                writeln!(f, "          {label:<8}  {text}")?;
            }
        }
        match self.failed.len().checked_sub(MAX_SHOWN) {
            Some(more) if more > 0 => writeln!(f, "  and {more} more failed cases"),
            _ => Ok(()),
        }
    }
}
