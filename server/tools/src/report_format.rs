//! The formats of reports.

/// The format in which a command writes its report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// Sentences for people.
    #[default]
    Text,
    /// One JSON object, for programs.
    Json,
    /// A table for a comment or a page.
    Markdown,
}
