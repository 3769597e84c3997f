//! The form of a report.

use serde::Serialize;

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

/// The actions and the form of a report about decisions.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct TableArguments {
    /// The actions to show: the verb of each resource and those that a rule or policy on it names, or all. The exit code speaks
    /// of all.
    #[arg(long, value_enum, default_value_t)]
    pub actions: ShownActions,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// The actions of resources that a report about decisions shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ShownActions {
    /// The verb of each resource, and the actions that a rule or policy on it names.
    #[default]
    Named,
    /// Every action.
    All,
}

impl ShownActions {
    /// Returns the lines to show, and the note about those that are left out.
    pub(crate) fn of<T: Clone>(self, named: &[T], others: &[T]) -> (Vec<T>, Option<String>) {
        let count = others.len();
        match self {
            Self::All => ([named, others].concat(), None),
            Self::Named if count == 0 => (named.to_vec(), None),
            Self::Named => {
                let lines = if count == 1 { "line" } else { "lines" };
                let note =
                    format!("{count} {lines} about other actions: `--actions all` shows them");
                (named.to_vec(), Some(note))
            }
        }
    }
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
