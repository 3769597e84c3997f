//! The findings, and their lines.

use std::io::Write;
use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    Fine,
    /// It works now, and may cease to.
    Warning,
    Wrong,
}

/// The findings, in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<(Weight, &'static str, String)>);

impl Report {
    /// Notes that something is as it must be.
    pub(super) fn fine(&mut self, about: &'static str, text: impl Into<String>) {
        self.0.push((Weight::Fine, about, text.into()));
    }

    /// Notes something that may become a fault.
    pub(super) fn warning(&mut self, about: &'static str, text: impl Into<String>) {
        self.0.push((Weight::Warning, about, text.into()));
    }

    /// Notes a fault.
    pub(super) fn wrong(&mut self, about: &'static str, text: impl Into<String>) {
        self.0.push((Weight::Wrong, about, text.into()));
    }

    /// Prints one line for each finding and their numbers. The exit code is 1 if something is wrong.
    pub(super) fn write(self, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        let machine = rustix::system::uname();
        let machine = machine.machine().to_string_lossy();
        writeln!(out, "portcullis {} {machine}", env!("CARGO_PKG_VERSION"))?;
        for (weight, about, text) in &self.0 {
            let weight = match weight {
                Weight::Fine => "ok",
                Weight::Warning => "warning",
                Weight::Wrong => "wrong",
            };
            // One line for each, also if a server sent a line break.
            let text: Vec<_> = text.split_whitespace().collect();
            writeln!(out, "{weight:<8} {about:<9} {}", text.join(" "))?;
        }
        let (wrong, warnings) = (self.count(Weight::Wrong), self.count(Weight::Warning));
        writeln!(out, "{wrong} wrong, {warnings} warnings")?;
        Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn count(&self, weight: Weight) -> usize {
        self.0.iter().filter(|(found, ..)| *found == weight).count()
    }
}
