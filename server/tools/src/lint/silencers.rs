//! Comments that silence findings: `# lint: allow CODE reason` on a line before the item.

use portcullis_bundle::SourceFile;

use super::code::LintCode;
use super::finding::{Finding, Places, shown};

/// A comment that silences a kind of finding about the item that follows it.
struct Silencer<'b> {
    file: &'b SourceFile,
    line: usize,
    column: usize,
    /// The code, or the fault of the comment.
    code: Result<LintCode, String>,
    /// The line on which the item begins; `None` if no item follows the comment.
    item_line: Option<usize>,
}

/// Removes the findings that comments of the files silence, or that `allowed` names. Adds findings about comments that
/// silence nothing.
pub(super) fn silence(
    mut findings: Vec<Finding>,
    places: &Places<'_>,
    allowed: &[LintCode],
) -> Vec<Finding> {
    for silencer in silencers(places) {
        let before = findings.len();
        findings.retain(|finding| !silencer.is_about(finding));
        // One comment silences each finding of its code at the item, and one that silences none is reported.
        if findings.len() == before {
            findings.extend(silencer.finding(allowed));
        }
    }
    // This comes last, so that findings about comments can be allowed, too.
    findings.retain(|finding| !allowed.contains(&finding.code));
    findings
}

fn silencers<'b>(places: &'b Places<'_>) -> Vec<Silencer<'b>> {
    let mut all = Vec::new();
    for (file, item_lines) in places.item_lines() {
        let comments: Vec<Option<(usize, &str)>> = file.text.lines().map(comment).collect();
        for (at, found) in comments.iter().enumerate() {
            let Some((column, text)) = found else { continue };
            let Some(rest) = text.strip_prefix("lint:") else { continue };
            // The comments between this one and the item belong to it too.
            let after = comments.iter().skip(at).take_while(|comment| comment.is_some()).count();
            let item_line = Some(at + after + 1).filter(|line| item_lines.contains(line));
            let code = read(rest);
            all.push(Silencer { file, line: at + 1, column: *column, code, item_line });
        }
    }
    all
}

/// Returns column and text of a line that is a comment.
fn comment(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start();
    let column = line.chars().count() - text.chars().count() + 1;
    Some((column, text.strip_prefix('#')?.trim()))
}

/// Reads `allow CODE reason`.
fn read(text: &str) -> Result<LintCode, String> {
    let mut words = text.split_whitespace();
    if words.next() != Some("allow") {
        return Err(
            "this comment silences nothing: expected `# lint: allow CODE reason`".to_owned()
        );
    }
    let name = words.next().unwrap_or_default();
    let code = name.parse();
    let code =
        code.map_err(|_| format!("this comment silences nothing: there is no code `{name}`"))?;
    if words.next().is_none() {
        return Err(format!("this comment silences nothing: a reason after `{code}` is missing"));
    }
    Ok(code)
}

impl Silencer<'_> {
    fn is_about(&self, finding: &Finding) -> bool {
        self.item_line.is_some()
            && self.code == Ok(finding.code)
            && finding.item_line == self.item_line
            && finding.file == shown(&self.file.path)
    }

    /// Returns the finding about a comment that silences nothing; `None` if the whole code is allowed.
    fn finding(self, allowed: &[LintCode]) -> Option<Finding> {
        let (code, message, advice) = match self.code {
            Err(fault) => (LintCode::BadSilencer, fault, "correct it, or delete it".to_owned()),
            Ok(code) if allowed.contains(&code) => return None,
            Ok(code) if self.item_line.is_none() => (
                LintCode::UnusedSilencer,
                format!(
                    "this comment silences nothing: no item follows it, which could have `{code}`"
                ),
                "move it to the line before the item, or delete it".to_owned(),
            ),
            Ok(code) => (
                LintCode::UnusedSilencer,
                format!("this comment silences nothing: the item after it has no `{code}`"),
                "delete it".to_owned(),
            ),
        };
        Some(Finding {
            code,
            severity: code.severity(),
            file: shown(&self.file.path).to_owned(),
            line: self.line,
            column: self.column,
            message,
            advice,
            item_line: None,
        })
    }
}
