//! The results as JUnit XML, which CI systems read.

use std::fmt::{self, Write as _};

use super::cases::CaseResult;
use super::results::TenantResults;

/// Returns the results as a document.
pub(super) fn document(results: &[TenantResults<'_>]) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    // A string takes everything.
    let _ = suites(results, &mut text);
    text
}

fn suites(results: &[TenantResults<'_>], out: &mut String) -> fmt::Result {
    let cases = results.iter().flat_map(|tenant| &tenant.cases);
    let failed = cases.clone().filter(|case| !case.passed()).count();
    let tests = cases.count();
    writeln!(
        out,
        "<testsuites name=\"portcullis test\" tests=\"{tests}\" failures=\"{failed}\" errors=\"0\">"
    )?;
    for tenant in results {
        suite(tenant, out)?;
    }
    writeln!(out, "</testsuites>")
}

fn suite(tenant: &TenantResults<'_>, out: &mut String) -> fmt::Result {
    let name = Escaped(tenant.tenant());
    let (tests, failed) = (tenant.cases.len(), tenant.failed());
    writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">"
    )?;
    for result in &tenant.cases {
        case(&name, result, out)?;
    }
    writeln!(out, "  </testsuite>")
}

fn case(suite: &Escaped<'_>, result: &CaseResult<'_>, out: &mut String) -> fmt::Result {
    let name = Escaped(&result.case.name);
    write!(out, "    <testcase classname=\"{suite}\" name=\"{name}\"")?;
    if result.passed() {
        return writeln!(out, "/>");
    }
    let lines: Vec<_> =
        result.lines().iter().map(|(label, text)| format!("{label}: {text}")).collect();
    let (message, text) = (lines.join("; "), lines.join("\n"));
    writeln!(out, ">")?;
    writeln!(out, "      <failure message=\"{}\">{}</failure>", Escaped(&message), Escaped(&text))?;
    writeln!(out, "    </testcase>")
}

/// A text inside an attribute or an element (XML 1.0, sections 2.2 and 2.4).
struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                // Without a reference, a parser makes a space of it.
                '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(character))?,
                // XML has no way to write these.
                '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_can_be_part_of_a_name() {
        let text = Escaped("a < b & \"c\" > 'd'\n\u{1}\u{ffff}é").to_string();
        assert_eq!(text, "a &lt; b &amp; &quot;c&quot; &gt; 'd'&#10;\u{fffd}\u{fffd}é");
    }
}
