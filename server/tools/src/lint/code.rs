//! The codes of findings.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The kind of a finding. `docs/lint.md` has a section for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LintCode {
    BadSilencer,
    Contradiction,
    DeniesWithout,
    Incomparable,
    NoCase,
    NotJudged,
    Outranked,
    OverruledRule,
    RedundantPolicy,
    RedundantRule,
    UndeterminedCase,
    UnknownRole,
    UnneededMark,
    UnreadFile,
    Unregistered,
    UnusedResolver,
    UnusedSilencer,
}

/// The weight of a finding: an error fails the command, a warning only if that is wanted, a note never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
    Note,
}

use Severity::{Error, Note, Warning};

impl LintCode {
    /// Each code with its name and severity.
    const TABLE: [(Self, &'static str, Severity); 17] = [
        (Self::BadSilencer, "BAD_SILENCER", Error),
        (Self::Contradiction, "CONTRADICTION", Error),
        (Self::DeniesWithout, "DENIES_WITHOUT", Warning),
        (Self::Incomparable, "INCOMPARABLE", Error),
        (Self::NoCase, "NO_CASE", Note),
        (Self::NotJudged, "NOT_JUDGED", Note),
        (Self::Outranked, "OUTRANKED", Error),
        (Self::OverruledRule, "OVERRULED_RULE", Error),
        (Self::RedundantPolicy, "REDUNDANT_POLICY", Warning),
        (Self::RedundantRule, "REDUNDANT_RULE", Warning),
        (Self::UndeterminedCase, "UNDETERMINED_CASE", Warning),
        (Self::UnknownRole, "UNKNOWN_ROLE", Warning),
        (Self::UnneededMark, "UNNEEDED_MARK", Warning),
        (Self::UnreadFile, "UNREAD_FILE", Warning),
        (Self::Unregistered, "UNREGISTERED", Warning),
        (Self::UnusedResolver, "UNUSED_RESOLVER", Warning),
        (Self::UnusedSilencer, "UNUSED_SILENCER", Warning),
    ];

    /// Returns every code.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::TABLE.iter().map(|(code, ..)| *code)
    }

    /// Returns the name, which never changes.
    pub fn as_str(self) -> &'static str {
        self.row().0
    }

    /// Returns the severity.
    pub fn severity(self) -> Severity {
        self.row().1
    }

    fn row(self) -> (&'static str, Severity) {
        let row = Self::TABLE.iter().find(|(code, ..)| *code == self);
        row.map_or(("", Error), |(_, name, severity)| (name, *severity))
    }
}

impl fmt::Display for LintCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LintCode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let row = Self::TABLE.iter().find(|(_, known, _)| *known == name);
        row.map(|(code, ..)| *code).ok_or_else(|| {
            let names: Vec<_> =
                Self::TABLE.iter().map(|(_, name, _)| format!("`{name}`")).collect();
            format!("expected one of {}", names.join(", "))
        })
    }
}

impl Serialize for LintCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Severity {
    /// Returns the name in the output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}
