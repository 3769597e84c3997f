//! Answers that refuse a request, as errors of a command.

use http::{Method, StatusCode};
use portcullis_egress::Answer;
use serde_json::Value;
use url::Url;

use crate::report::visible;

/// The most lines about one refusal.
const MAX_LINES: usize = 20;
/// The number of characters of an answer that is no JSON which the error shows.
const SHOWN: usize = 300;

/// Advice for a question without a domain. Each command that asks one has the argument.
pub(crate) const NAME_DOMAIN: &str = "; --domain names it";

/// A request that was refused.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) base: &'a Url,
    pub(crate) method: Method,
    /// The route in `/api/v1`.
    pub(crate) route: &'static str,
    /// The content in the body, for the names of its items.
    pub(crate) bundle: Option<&'a Value>,
    /// The size of the body in bytes.
    pub(crate) body_bytes: usize,
    /// The namespaces of the resolvers whose modules are in the body.
    pub(crate) modules: &'a [String],
    /// Whether `portcullis import` calls, which has fewer options than `portcullis apply`.
    pub(crate) is_import: bool,
    /// The lines of a file that are a list in the body.
    pub(crate) lines: Option<ListedLines<'a>>,
}

/// The lines of a file that are the items of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedLines<'l> {
    /// The name of the list in the body.
    pub(crate) member: &'l str,
    /// The number of the line of each item.
    pub(crate) lines: &'l [u64],
}

impl ListedLines<'_> {
    /// Returns the number of the line that a JSON pointer leads into.
    fn line(self, path: &str) -> Option<u64> {
        let (member, rest) = path.strip_prefix('/')?.split_once('/')?;
        // The pointer may lead further into the item, which does not change the line.
        let index: usize = rest.split('/').next()?.parse().ok()?;
        self.lines.get(index).filter(|_| member == self.member).copied()
    }
}

impl<'a> Call<'a> {
    pub(crate) fn get(base: &'a Url, route: &'static str) -> Self {
        Self {
            base,
            method: Method::GET,
            route,
            bundle: None,
            body_bytes: 0,
            modules: &[],
            is_import: false,
            lines: None,
        }
    }
}

/// The error about a call that the service refuses.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Refused {
    status: StatusCode,
    text: String,
}

/// Returns the error about a call that the service refuses.
pub(crate) fn refusal(call: &Call<'_>, answer: &Answer) -> anyhow::Error {
    Refused { status: answer.status, text: text(call, answer) }.into()
}

/// Returns whether the error says that what is stored does not fit the call.
pub(crate) fn is_conflict(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<Refused>();
    refused.is_some_and(|refused| refused.status == StatusCode::CONFLICT)
}

/// Returns whether the error says that the credential may not make the call.
pub(crate) fn may_not(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<Refused>();
    refused.is_some_and(|refused| refused.status == StatusCode::FORBIDDEN)
}

fn text(call: &Call<'_>, answer: &Answer) -> String {
    let (base, status) = (call.base, answer.status);
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else {
        let text: String = String::from_utf8_lossy(&answer.body).chars().take(SHOWN).collect();
        return format!(
            "`{base}` answers {status} without a JSON object, so it is not the URL of a Portcullis service: `{}`",
            visible(&text)
        );
    };
    let message = body["message"].as_str().map(visible).unwrap_or_default();
    let mut text = format!(
        "`{base}` refuses {} /api/v1/{} with {status}: {message}{}",
        call.method,
        call.route,
        hint(call, status, &body)
    );
    let lines = details(call, &body["details"]);
    for line in lines.iter().take(MAX_LINES) {
        text += &format!("\n  {line}");
    }
    // The subtraction fails where there are fewer lines, and gives zero where all are shown.
    if let Some(more) = lines.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
        text += &format!("\n  and {more} more");
    }
    text
}

/// Returns advice that the message of the service cannot give.
fn hint(call: &Call<'_>, status: StatusCode, body: &Value) -> String {
    match (status, body["error"].as_str().unwrap_or_default()) {
        (StatusCode::BAD_REQUEST, _) if lacks_domain(body) => NAME_DOMAIN.to_owned(),
        (_, "OWNED_BY_ANOTHER") if call.is_import => {
            "; an import has no option for that: write a folder with --out, and run `portcullis apply`, which has one".to_owned()
        }
        (_, "OWNED_BY_ANOTHER") => "; --force takes the objects over".to_owned(),
        (_, "DELETE_LIMIT") => "; --allow-deletes lifts the limit".to_owned(),
        (_, "CASES_FAILED") if !call.is_import => {
            "; --despite-cases applies it anyway, unless a gate of the tenant refuses it".to_owned()
        }
        (_, "PLAN_STALE") => "; run `portcullis plan` again".to_owned(),
        (_, "REVISION_CHANGED") => "; look at the change with `portcullis drift`, and plan again".to_owned(),
        (StatusCode::UNAUTHORIZED, _) => {
            "; give a token in TOKEN, or a service key in SERVICE_API_KEY".to_owned()
        }
        (StatusCode::FORBIDDEN, _) if matches!(call.route, "matrix" | "search/subjects" | "roles") => {
            "; a manager may ask, or a service key with `access:search` and `policies:read`".to_owned()
        }
        // The routes with permissions of their own come before the general advice below.
        (StatusCode::FORBIDDEN, _) if call.route == "resolvers" => {
            "; a manager may do it, or a service key with `resolvers:read` and, for a push, `resolvers:write`".to_owned()
        }
        (StatusCode::FORBIDDEN, _) if call.route == "replays" => {
            "; a manager may ask, or a service key with `decisions:read` and `policies:read`".to_owned()
        }
        (StatusCode::FORBIDDEN, _) => {
            "; a manager may do it, or a service key with the permission of every kind in the folder".to_owned()
        }
        // A command puts only what it has just listed, so the record was there a moment ago.
        (StatusCode::NOT_FOUND, _) if call.method == Method::PUT => {
            "; another one deleted it meanwhile: run the command again".to_owned()
        }
        (StatusCode::NOT_FOUND, _) if lacks_record(body) => String::new(),
        (StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED, _) => {
            "; --url is the address of a Portcullis service of version 0.2 or later, without `/api/v1`".to_owned()
        }
        (StatusCode::PAYLOAD_TOO_LARGE, _) if call.body_bytes > 0 => too_large(call),
        _ => String::new(),
    }
}

/// Returns whether the service has the route, and lacks the record that the call names.
fn lacks_record(body: &Value) -> bool {
    let what = body["message"].as_str().and_then(|text| text.strip_prefix("there is no such "));
    what.is_some_and(|what| !what.starts_with("route"))
}

/// Returns whether a question by a service key is refused because neither names a domain.
pub(crate) fn lacks_domain(body: &Value) -> bool {
    body["details"]["missing_fields"]
        .as_array()
        .is_some_and(|fields| fields.contains(&"domain".into()))
}

fn too_large(call: &Call<'_>) -> String {
    let size = format!("; the body has {} bytes", call.body_bytes);
    if call.modules.is_empty() {
        return format!(
            "{size}: raise APPLY_BODY_BYTES of the service, up to 34 MiB, or apply parts of the tenant as several owners"
        );
    }
    format!(
        "{size}, with the modules of the resolvers `{}`: run `portcullis resolver push` for each first, and then \
         this command again, which sends no module that the service has",
        call.modules.join("`, `")
    )
}

/// Returns the lines about what the service names in `details`.
fn details(call: &Call<'_>, details: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for error in list(details, "errors") {
        let path = error["path"].as_str().unwrap_or_default();
        let item = item(call, path).map(|item| format!(" ({item})")).unwrap_or_default();
        lines.push(format!("at `{}`{item}: {}", visible(path), shown(&error["message"])));
    }
    for one in list(details, "conflicts") {
        let (kind, name) = (shown(&one["kind"]), shown(&one["name"]));
        lines.push(format!("{kind} `{name}` belongs to {}", shown(&one["managed_by"])));
    }
    for one in list(details, "failed") {
        let (expected, actual) = (decision(&one["expected"]), decision(&one["actual"]));
        let why =
            one["reason"].as_str().map(|why| format!(": {}", visible(why))).unwrap_or_default();
        let case = shown(&one["case"]);
        lines.push(format!("FAILED `{case}`: expected {expected}, not {actual}{why}"));
    }
    lines
}

fn list<'d>(details: &'d Value, name: &str) -> &'d [Value] {
    details[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn shown(text: &Value) -> String {
    visible(text.as_str().unwrap_or_default())
}

fn decision(side: &Value) -> String {
    match side.get("rule") {
        Some(rule) => format!("{} by `{}`", shown(&side["decision"]), shown(rule)),
        None => shown(&side["decision"]),
    }
}

/// Returns the name of the item of the content that a JSON pointer leads into.
fn item(call: &Call<'_>, path: &str) -> Option<String> {
    if let Some(line) = call.lines.and_then(|lines| lines.line(path)) {
        return Some(format!("line {line} of the file"));
    }
    // Only the member `bundle` has items with names, and the pointer says their kind and index.
    let mut segments = path.strip_prefix("/bundle/")?.split('/');
    let (kind, index) = (segments.next()?, segments.next()?.parse::<usize>().ok()?);
    let item = call.bundle?.get(kind)?.get(index)?;
    let mut names = ["name", "namespace", "url"].into_iter();
    let name = names.find_map(|name| member(item, name)).map(str::to_owned);
    // A rule has no name but its tuple, and a user none but its `sub`.
    let name = name.or_else(|| tuple(item)).or_else(|| member(item, "sub").map(str::to_owned))?;
    Some(format!("`{}`", visible(&name)))
}

fn tuple(rule: &Value) -> Option<String> {
    let parts = ["sub", "dom", "obj", "act"].map(|name| member(rule, name));
    let parts: Option<Vec<&str>> = parts.into_iter().collect();
    parts.map(|parts| parts.join(", "))
}

fn member<'i>(item: &'i Value, name: &str) -> Option<&'i str> {
    item.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use serde_json::json;

    use super::*;

    fn error(status: u16, body: &str, modules: &[String]) -> String {
        let base = "http://pdp.example/".parse().expect("a URL");
        let bundle = json!({"policies": [{"name": "own"}], "rules": [{"sub": "a", "dom": "b", "obj": "c:d", "act": "e"}]});
        let call = Call {
            method: Method::POST,
            bundle: Some(&bundle),
            body_bytes: 9,
            modules,
            ..Call::get(&base, "apply")
        };
        let status = StatusCode::from_u16(status).expect("a status");
        refusal(&call, &Answer { status, headers: HeaderMap::new(), body: body.into() }).to_string()
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        let geo = ["geo".to_owned()];
        for (status, body, modules, expected) in [
            (
                401,
                json!({"error": "UNAUTHENTICATED", "message": "m"}),
                &[][..],
                "401 Unauthorized: m; give a token in TOKEN",
            ),
            (
                400,
                json!({"error": "VALIDATION_ERROR", "message": "m", "details": {"missing_fields": ["domain"]}}),
                &[],
                "400 Bad Request: m; --domain names it",
            ),
            (403, json!({"error": "ACCESS_DENIED", "message": "m"}), &[], "m; a manager may do it"),
            (
                404,
                json!({"error": "NOT_FOUND", "message": "there is no such route on this address"}),
                &[],
                "refuses POST /api/v1/apply with 404 Not Found: there is no such route on this address; --url is the address of a Portcullis service of version 0.2",
            ),
            (
                409,
                json!({"error": "PLAN_STALE", "message": "m"}),
                &[],
                "m; run `portcullis plan` again",
            ),
            (
                409,
                json!({"error": "REVISION_CHANGED", "message": "m"}),
                &[],
                "m; look at the change with `portcullis drift`",
            ),
            (
                413,
                json!({"error": "PAYLOAD_TOO_LARGE", "message": "m"}),
                &[],
                "m; the body has 9 bytes: raise APPLY_BODY_BYTES",
            ),
            (
                413,
                json!({"error": "PAYLOAD_TOO_LARGE", "message": "m"}),
                &geo,
                "resolvers `geo`: run `portcullis resolver push`",
            ),
            (
                422,
                json!({"error": "DELETE_LIMIT", "message": "m"}),
                &[],
                "m; --allow-deletes lifts the limit",
            ),
            (
                503,
                json!({"error": "UNAVAILABLE", "message": "later"}),
                &[],
                "503 Service Unavailable: later",
            ),
        ] {
            let error = error(status, &body.to_string(), modules);
            assert!(error.contains(expected), "{error}");
            assert!(
                error.starts_with("`http://pdp.example/` refuses POST /api/v1/apply with "),
                "{error}"
            );
        }
        let base = "http://pdp.example/".parse().expect("a URL");
        let call = Call { method: Method::PUT, ..Call::get(&base, "resolvers") };
        for (status, expected) in [
            (
                403,
                "403 Forbidden: m; a manager may do it, or a service key with `resolvers:read` and, for a push, `resolvers:write`",
            ),
            (404, "404 Not Found: m; another one deleted it meanwhile: run the command again"),
            (413, "413 Payload Too Large: m"),
        ] {
            let (status, headers) =
                (StatusCode::from_u16(status).expect("a status"), HeaderMap::new());
            let body = json!({"error": "E", "message": "m"}).to_string().into();
            let error = refusal(&call, &Answer { status, headers, body }).to_string();
            assert!(error.ends_with(expected), "{error}");
        }
        let lacks = json!({"error": "NOT_FOUND", "message": "there is no such revision"});
        let error_of_record = error(404, &lacks.to_string(), &[]);
        assert!(error_of_record.ends_with(": there is no such revision"), "{error_of_record}");
        let page = "<!doctype html>\n".repeat(100);
        let error = error(502, &page, &[]);
        assert!(
            error.contains("not the URL of a Portcullis service") && error.len() < 600,
            "{error}"
        );
    }

    #[test]
    fn objects_and_cases_of_a_refusal_are_named() {
        for (code, details, expected) in [
            (
                "VALIDATION_ERROR",
                json!({"errors": [{"path": "/bundle/policies/0/priority", "message": "expected an integer"}]}),
                "\n  at `/bundle/policies/0/priority` (`own`): expected an integer",
            ),
            (
                "VALIDATION_ERROR",
                json!({"errors": [{"path": "/bundle/rules/0", "message": "x"}]}),
                "\n  at `/bundle/rules/0` (`a, b, c:d, e`): x",
            ),
            (
                "VALIDATION_ERROR",
                json!({"errors": [{"path": "/owner", "message": "x"}]}),
                "\n  at `/owner`: x",
            ),
            (
                "OWNED_BY_ANOTHER",
                json!({"conflicts": [{"kind": "rule", "name": "r", "managed_by": "git:x"}]}),
                "--force takes the objects over\n  rule `r` belongs to git:x",
            ),
            (
                "CASES_FAILED",
                json!({"failed": [{"case": "c", "expected": {"decision": "deny", "rule": "p"}, "actual": {"decision": "allow", "rule": "q"}}]}),
                "\n  FAILED `c`: expected deny by `p`, not allow by `q`",
            ),
        ] {
            let body = json!({"error": code, "message": "m", "details": details});
            let error = error(409, &body.to_string(), &[]);
            assert!(error.ends_with(expected), "{error}");
        }
        let many: Vec<_> =
            (0..25).map(|n| json!({"path": format!("/{n}"), "message": "x"})).collect();
        let body =
            json!({"error": "VALIDATION_ERROR", "message": "m", "details": {"errors": many}});
        assert!(error(400, &body.to_string(), &[]).ends_with("\n  and 5 more"));
    }
}
