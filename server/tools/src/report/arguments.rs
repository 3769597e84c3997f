//! The form of a report.

/// The form in which a command writes its report.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ReportArguments {
    /// The form of the output.
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
    /// Print every line, and not only the first 20 of each list.
    #[arg(long)]
    pub all: bool,
}

/// A form of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// Lines for people.
    #[default]
    Text,
    /// Everything as JSON, for programs.
    Json,
    /// A comment for a pull request.
    Markdown,
}
