//! The pages of recorded decisions.

use serde_json::json;

use super::Console;
use crate::support::tenant::always;

/// A console with an allow of `ann` and a denial of `<script>`, both on record.
fn with_decisions() -> (Console, String) {
    let console = Console::start();
    let tenant = &console.tenant;
    let rule =
        json!({"type": "CONDITION", "attribute": "user.ward", "operator": "eq", "value": "er"});
    tenant.policy("own ward", "chart:read", "allow", 10, &rule);
    tenant.policy("never", "chart:write", "deny", 1, &always());
    let check = |subject: &str, ward: &str| {
        let body = json!({
            "subject": subject, "resource": "chart:read", "action": "read",
            "attributes": {"user": {"ward": ward}},
        });
        console.recorded(&body)
    };
    check("ann", "er");
    let denied = check("<script>alert(1)</script>", "lab");
    (console, denied)
}

#[test]
fn decisions_are_listed_counted_and_filtered() {
    let (console, denied) = with_decisions();
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page("decisions")).is(200);
    for expected in [
        "<h1>Decisions</h1>",
        "role=\"search\" aria-label=\"Filter\"",
        "<label for=\"f-request_id\">Request id</label>",
        "aria-label=\"Decisions: 1 deny, 1 allow\"",
        "<table aria-label=\"Decisions\">",
        "own ward",
        "default deny",
        &format!("decisions/{denied}"),
        "decisions?subject=ann",
        "&#60;script&#62;",
        "GET /api/v1/decisions",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    assert!(!page.text.contains("<script>alert"), "{}", page.text);
    let only = browser.get(&console.page("decisions?subject=ann&resource=&decision=allow")).is(200);
    assert!(only.text.contains("value=\"ann\"") && !only.text.contains(&denied), "{}", only.text);
    let none = browser.get(&console.page("decisions?subject=nobody")).is(200);
    assert!(none.text.contains("No decision fits the filter"), "{}", none.text);
    browser.get(&console.page("decisions?decision=perhaps")).is(400);
    // A bar leads to what it counts.
    let filter = ["subject=ann", "decision=allow", "via=check", "undetermined=false"];
    let counted = browser.get(&console.page(&format!("decisions?{}", filter.join("&")))).is(200);
    let bar = counted.text.split("<th scope=\"row\"><a href=\"").nth(1).expect("a bar");
    let link = bar.split('"').next().unwrap_or_default();
    assert!(filter.iter().all(|part| link.contains(part)), "{link}");
}

#[test]
fn a_decision_says_why_and_what_would_allow_it() {
    let (console, denied) = with_decisions();
    let path = console.page(&format!("decisions/{denied}"));
    let page = console.signed_in("ines", &["admin"]).get(&path).is(200);
    for expected in [
        "<h1>&#60;script&#62;alert(1)&#60;/script&#62; may not read chart:read</h1>",
        "data-testid=\"outcome\">Deny<",
        "<h2>Why</h2>",
        "data-testid=\"node\" data-outcome=\"false\"",
        "<h2>What would allow it</h2>",
        "<code>user.ward</code>: lab → <strong>er</strong>",
        "<h2>Ladder</h2>",
        "<li aria-current=\"true\"><span class=\"badge deny\">Deny</span> default deny",
        "<h2>What was known</h2>",
        "Copy as curl",
        "Copy as command",
        "Copy as AuthZEN",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    // A member sees its own decisions alone, with what its own credential sent.
    console.signed_in("bob", &["auditor"]).get(&path).is(404);
    let own = console.signed_in("<script>alert(1)</script>", &["auditor"]).get(&path).is(200);
    assert!(own.text.contains("What was known") && !own.text.contains("<h2>Why</h2>"));
    let others = console.signed_in("bob", &["auditor"]).get(&console.page("decisions?subject=ann"));
    assert!(others.is(403).text.contains("<h1>Not allowed</h1>"));
}

#[test]
fn a_service_without_a_record_says_what_brings_one() {
    let settings = crate::support::Settings::new(crate::support::Provider::shared());
    let console = Console::with(settings);
    let page = console.signed_in("ines", &["admin"]).get(&console.page("decisions")).is(200);
    assert!(page.text.contains("DECISION_LOG_URL"), "{}", page.text);
    let me = console.signed_in("ines", &["admin"]).get(&console.page("me")).is(200);
    assert!(me.text.contains("<table aria-label=\"Permissions\">"), "{}", me.text);
}
