//! The explanations of codes: the sections of `docs/lint.md`.

use super::code::LintCode;

/// The document, which has a section for each code.
pub(super) const DOCUMENT: &str = include_str!("../../../../docs/lint.md");

/// Returns the section about a code, without empty lines around it.
pub(super) fn explanation(code: LintCode) -> &'static str {
    let heading = format!("\n## {code}\n");
    let Some((_, section)) = DOCUMENT.split_once(&heading) else { return "" };
    section.split("\n## ").next().unwrap_or(section).trim()
}
