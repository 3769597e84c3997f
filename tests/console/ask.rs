//! The page that asks: it decides as the API does, and keeps what was typed.

use serde_json::json;

use super::Console;
use crate::everywhere::decisions::set;
use crate::support::tenant::condition;

#[test]
fn a_question_is_decided_and_explained() {
    let console = Console::start();
    let policy = condition("user.ward", "eq", "er");
    console.tenant.policy("<b>own</b> ward", "chart:read", "allow", 10, &policy);
    let mut browser = console.signed_in("ines", &["admin"]);
    let empty = browser.get(&console.page("ask")).is(200);
    assert!(empty.text.contains("<h1>Ask</h1>") && !empty.text.contains("data-testid"));
    for label in ["Subject", "Action", "Resource", "Domain", "Attributes", "Revision"] {
        assert!(empty.text.contains(&format!("\">{label}</label>")), "{label}: {}", empty.text);
    }
    // The names of later parts are unknown, too.
    for unknown in ["at", "actor", "with", "subjct"] {
        browser.get(&console.page(&format!("ask?{unknown}=1"))).is(400);
    }
    let question = "ask?subject=ann&action=read&resource=chart:read";
    let denied = browser.get(&console.page(question)).is(200);
    for expected in [
        "<h1>ann may not read chart:read</h1>",
        "data-testid=\"outcome\">Deny<",
        "<h2>Why</h2>",
        "&#60;b&#62;own&#60;/b&#62; ward",
        "<h2>What would allow it</h2>",
        "<h2>What was known</h2>",
        "<h2>Ladder</h2>",
        "POST /api/v1/check?explain=true",
        "Copy as AuthZEN",
    ] {
        assert!(denied.text.contains(expected), "{expected}: {}", denied.text);
    }
    assert!(!denied.text.contains("<b>own"), "{}", denied.text);
    let er = "&attributes=%7B%22user%22:%7B%22ward%22:%22er%22%7D%7D";
    let allowed = browser.get(&console.page(&format!("{question}{er}"))).is(200);
    assert!(allowed.text.contains("<h1>ann may read chart:read</h1>"), "{}", allowed.text);
    assert!(!allowed.text.contains("What would allow it"), "{}", allowed.text);
    // The object has the type that the resource names.
    let of_one = "&attributes=%7B%22user%22:%7B%22ward%22:%22er%22%7D,%22resource%22:%7B%22id%22:%22c7%22%7D%7D";
    let of_one = browser.get(&console.page(&format!("{question}{of_one}"))).is(200);
    assert!(of_one.text.contains("<h1>ann may read chart:c7</h1>"), "{}", of_one.text);
    // Before the policy, everybody was denied.
    let earlier = browser.get(&console.page(&format!("{question}{er}&at_revision=1"))).is(200);
    assert!(earlier.text.contains("<h1>ann may not read chart:read</h1>"), "{}", earlier.text);
}

#[test]
fn a_wrong_question_stays_in_the_form() {
    let console = Console::start();
    let mut browser = console.signed_in("ines", &["admin"]);
    for (question, kept, fault) in [
        ("subject=ann", "value=\"ann\"", "resource"),
        ("subject=%3Cscript%3E&resource=x", "value=\"&#60;script&#62;\"", "resource"),
        ("subject=ann&resource=chart:read&attributes=%7B", "{</textarea>", "expected JSON"),
        ("subject=ann&resource=chart:read&at_revision=-1", "value=\"-1\"", "at_revision"),
    ] {
        let reply = browser.get(&console.page(&format!("ask?{question}"))).is(400);
        assert!(reply.text.contains("role=\"alert\""), "{question}: {}", reply.text);
        assert!(
            reply.text.contains(fault) && reply.text.contains(kept),
            "{question}: {}",
            reply.text
        );
        assert!(!reply.text.contains("<script>"), "{question}");
    }
    let gone = "ask?subject=ann&resource=chart:read&action=read&at_revision=999";
    let gone = browser.get(&console.page(gone)).is(404);
    assert!(gone.text.contains("role=\"alert\"") && gone.text.contains("value=\"999\""));
}

#[test]
fn a_decision_leads_to_its_question_unless_the_record_lacks_a_part() {
    let console = Console::start();
    let policy = condition("user.ward", "eq", "er");
    console.tenant.policy("own ward", "chart:read", "allow", 10, &policy);
    let decided = |attributes: serde_json::Value| {
        let body = json!({
            "subject": "ann", "resource": "chart:read", "action": "read", "attributes": attributes,
        });
        console.recorded(&body)
    };
    let mut browser = console.signed_in("ines", &["admin"]);
    let kept = decided(json!({"user": {"ward": "er"}}));
    let page = browser.get(&console.page(&format!("decisions/{kept}"))).is(200);
    let link = page.text.split("<a href=\"").find(|part| part.contains("\">Ask again</a>"));
    let link = link.and_then(|part| part.split('"').next()).expect("a link").replace("&#38;", "&");
    let again = browser.get(&link).is(200);
    assert!(again.text.contains("<h1>ann may read chart:read</h1>"), "{}", again.text);
    set(&console.tenant, &json!({"attributes": {"user.ward": "drop"}}));
    let dropped = decided(json!({"user": {"ward": "er"}}));
    let page = browser.get(&console.page(&format!("decisions/{dropped}"))).is(200);
    assert!(page.text.contains("cannot be asked again"), "{}", page.text);
    assert!(!page.text.contains("Ask again"), "{}", page.text);
}
