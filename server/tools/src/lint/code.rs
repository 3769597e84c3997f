//! The codes of findings.

use portcullis_engine::names::names;
use portcullis_engine::nearest::any_of;
use serde::Serialize;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// The kind of a finding. `docs/lint.md` has a section for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(into = "&'static str")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
#[strum(parse_err_fn = unknown_code, parse_err_ty = String)]
pub enum LintCode {
    ActionNotVerb,
    AllowsWithout,
    BadSilencer,
    ClaimMayBeAbsent,
    Contradiction,
    DatetimesAsTexts,
    DeniesWithout,
    DomainNotTied,
    Incomparable,
    MissedResource,
    MistakenSubject,
    NoCase,
    NoLength,
    NobodyHas,
    NotJudged,
    Outranked,
    OverriddenAttribute,
    OverruledRule,
    RedundantPolicy,
    RedundantRule,
    SimilarName,
    UndeterminedCase,
    UnknownRole,
    UnneededMark,
    UnreadFile,
    Unregistered,
    UnusedResolver,
    UnusedSilencer,
}

/// The weight of a finding: an error fails the command, a warning only if that is wanted, a note never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Severity {
    Error,
    Warning,
    Note,
}

impl LintCode {
    /// Returns the severity.
    pub fn severity(self) -> Severity {
        match self {
            Self::BadSilencer
            | Self::Contradiction
            | Self::Incomparable
            | Self::Outranked
            | Self::OverruledRule => Severity::Error,
            Self::ActionNotVerb
            | Self::AllowsWithout
            | Self::ClaimMayBeAbsent
            | Self::DatetimesAsTexts
            | Self::DeniesWithout
            | Self::DomainNotTied
            | Self::MissedResource
            | Self::MistakenSubject
            | Self::NoLength
            | Self::NobodyHas
            | Self::OverriddenAttribute
            | Self::RedundantPolicy
            | Self::RedundantRule
            | Self::SimilarName
            | Self::UndeterminedCase
            | Self::UnknownRole
            | Self::UnneededMark
            | Self::UnreadFile
            | Self::Unregistered
            | Self::UnusedResolver
            | Self::UnusedSilencer => Severity::Warning,
            Self::NoCase | Self::NotJudged => Severity::Note,
        }
    }
}

fn unknown_code(_: &str) -> String {
    format!("expected {}", any_of(names::<LintCode>()))
}
