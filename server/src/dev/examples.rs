//! Checks to paste, with their answers, and the page with all of them: `GET /dev/examples`.

use std::fmt::Write as _;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use portcullis_api::{self as api, PageLink};
use portcullis_bundle::{Bundle, Case, SampleUser};
use portcullis_engine::{Check, CheckBody, CheckKind, Effect};
use portcullis_operations::assumed::Assumed;
use portcullis_operations::checks::{self, CheckAnswer, CheckOptions};
use portcullis_runtime::app::App;
use portcullis_runtime::min_revisions::MinRevisions;
use url::form_urlencoded::byte_serialize;

use super::tenants::ServedTenants;

/// The path of the page.
pub(super) const PATH: &str = "/dev/examples";
/// The link to the page, for the page at `/`.
pub(super) const LINK: PageLink = PageLink {
    path: PATH,
    about: "the tenants and their users, how to get tokens, and checks to paste",
};
/// The longest line of a command, in characters, where its parts allow.
pub(super) const WIDTH: usize = 100;
/// The cases that are shown of a tenant that marks none.
const UNMARKED: usize = 3;

/// A running service with the tenants that it serves.
#[derive(Clone)]
pub(super) struct Examples {
    pub(super) app: App,
    pub(super) tenants: ServedTenants,
    pub(super) base_url: String,
}

/// A check to paste.
pub(super) struct Example {
    /// The name of its case.
    pub(super) name: String,
    /// Whether its case is about another time than the present.
    pub(super) has_other_time: bool,
    pub(super) answer: CheckAnswer,
    /// The hints of a denial.
    pub(super) hints: Vec<String>,
    /// The command.
    pub(super) lines: Vec<String>,
}

impl Examples {
    /// Returns the route of the page.
    pub(super) fn routes(self) -> Router {
        Router::new().route(PATH, get(move || async move { self.page().await }))
    }

    /// Returns the examples of a tenant, decided by the running service.
    pub(super) async fn decide(&self, bundle: &Bundle) -> anyhow::Result<Vec<Example>> {
        let mut examples = Vec::new();
        for case in shown(bundle) {
            let (answer, hints) = answer(&self.app, bundle, case).await?;
            let name = case.name.strip_prefix("demo: ").unwrap_or(&case.name).to_owned();
            let sub = case.caller.as_deref().unwrap_or_default();
            let user = self.tenants.name_of(&bundle.tenant, sub);
            let lines = self.command(&user, &case.check.to_string());
            let has_other_time = case.now.is_some();
            examples.push(Example { name, has_other_time, answer, hints, lines });
        }
        Ok(examples)
    }

    /// Returns the command that prints a token of a user.
    pub(super) fn token_command(&self, user: &str) -> String {
        let user: String = byte_serialize(user.as_bytes()).collect();
        format!("curl -s '{}/dev/token?user={user}'", self.base_url)
    }

    /// Returns the command that sends a check.
    fn command(&self, user: &str, body: &str) -> Vec<String> {
        let token = self.token_command(user);
        let mut lines = vec![
            format!(
                "curl -s {}/api/v1/check -H 'Content-Type: application/json' \\",
                self.base_url
            ),
            format!("  -H \"Authorization: Bearer $({token})\" \\"),
        ];
        let first = lines.len();
        // In single quotes of a shell, `'\''` is a quote.
        lines.extend(wrapped(&body.replace('\'', r"'\''"), WIDTH - "  -d ''".len()));
        for (index, line) in lines.iter_mut().enumerate().skip(first) {
            line.insert_str(0, if index == first { "  -d '" } else { "  " });
        }
        if let Some(last) = lines.last_mut() {
            last.push('\'');
        }
        lines
    }

    async fn page(&self) -> Response {
        match self.text().await {
            Ok(text) => text.into_response(),
            Err(error) => {
                tracing::error!(%error, "cannot show the examples");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }

    async fn text(&self) -> anyhow::Result<String> {
        let mut text = format!("Portcullis for development: {}\n", self.base_url);
        for tenant in self.tenants.all() {
            let bundle = &tenant.bundle;
            let about = bundle.description.as_deref().unwrap_or_default().trim();
            writeln!(text, "\n== Tenant `{}`: {about}", bundle.tenant)?;
            writeln!(text, "   Users, each with the command that prints a token for a day:")?;
            for user in &bundle.users {
                let about = user.description.as_deref().unwrap_or_default().trim();
                let name = self.tenants.name_of(&bundle.tenant, &user.sub);
                writeln!(text, "\n{name} ({}): {about}", roles_of(user))?;
                writeln!(text, "{}", self.token_command(&name))?;
            }
            writeln!(text, "\n   Checks:")?;
            for Example { name, answer, hints, lines, .. } in self.decide(bundle).await? {
                writeln!(text, "\n# {name}\n# answers {}", api::answer_text(answer))?;
                for hint in hints {
                    writeln!(text, "# hint {hint}")?;
                }
                writeln!(text, "{}", lines.join("\n"))?;
            }
        }
        Ok(text)
    }
}

/// Returns the roles of a user as text.
pub(super) fn roles_of(user: &SampleUser) -> String {
    if user.roles.is_empty() { "no roles".to_owned() } else { user.roles.join(", ") }
}

/// Returns the cases to show: those that are marked, or else the first that come with a token and do not depend on the
/// time.
fn shown(bundle: &Bundle) -> Vec<&Case> {
    let marked: Vec<&Case> = bundle.demos().filter(|case| case.caller.is_some()).collect();
    if !marked.is_empty() {
        return marked;
    }
    let timeless = bundle.cases.iter().filter(|case| case.caller.is_some() && case.now.is_none());
    timeless.take(UNMARKED).collect()
}

/// Returns the answer of the service to the check of `case`, from the stored rules, and the hints of a denial.
async fn answer(
    app: &App,
    bundle: &Bundle,
    case: &Case,
) -> anyhow::Result<(CheckAnswer, Vec<String>)> {
    let body = CheckBody::parse(&case.check)?;
    let caller = case.caller.as_deref().and_then(|sub| bundle.user(sub));
    let caller = caller.map(|user| user.caller());
    let domain = body.domain.unwrap_or(&bundle.tenant);
    let check = Check::new(body, domain, caller, app.clock.now());
    let tuples = case.relations.as_deref().unwrap_or_default();
    let assumed = Assumed { tuples, at: "" };
    let options = CheckOptions::present(CheckKind::Combined, MinRevisions::default());
    // Only an explanation has hints.
    let options = CheckOptions { assumed, explain: true, ..options };
    let decided = checks::decide(app, &bundle.tenant, check, options).await?;
    let is_denied = decided.answer.effect == Effect::Deny;
    let hints = decided
        .explained(|explained| explained.hints().iter().map(|hint| hint.message.clone()).collect());
    let hints = hints.filter(|_| is_denied).unwrap_or_default();
    Ok((decided.answer, hints))
}

/// Breaks JSON after commas between members and items, so that lines have at most `width` characters where possible.
fn wrapped(json: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in pieces(json) {
        let fits = lines.last().is_some_and(|line| {
            line.is_empty() || line.chars().count() + piece.chars().count() <= width
        });
        match lines.last_mut() {
            Some(line) if fits => line.push_str(piece),
            _ => lines.push(piece.to_owned()),
        }
    }
    lines
}

/// Splits JSON after the commas outside of strings.
fn pieces(json: &str) -> Vec<&str> {
    let (mut pieces, mut rest_at) = (Vec::new(), 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for (at, c) in json.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => in_string = !in_string,
            ',' if !in_string => {
                pieces.extend(json.get(rest_at..=at));
                // A comma is one byte.
                rest_at = at + 1;
            }
            _ => {}
        }
    }
    pieces.extend(json.get(rest_at..));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_breaks_between_its_parts_alone() {
        let json =
            r#"{"a":"x, \"y\", z","b":[1,2],"c":"long, long text that has no place to break"}"#;
        let lines = wrapped(json, 20);
        assert_eq!(lines.concat(), json);
        assert_eq!(
            lines,
            [
                r#"{"a":"x, \"y\", z","#,
                r#""b":[1,2],"#,
                r#""c":"long, long text that has no place to break"}"#
            ]
        );
        assert_eq!(wrapped(json, 200), [json]);
    }
}
