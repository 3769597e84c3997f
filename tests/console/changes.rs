//! The history: revisions, what they changed, and the way back; proposals.

use serde_json::{Value, json};

use super::Console;
use super::browser::location;
use crate::support::tenant::{always, condition};
use crate::support::{MANAGER, NO_ID, Provider, Request, Settings};

const SCRIPT: &str = "<script>alert(1)</script>";

/// A console in which revision 2 made a policy, and revision 3 changed its priority. Revision 1 made the resource.
fn with_history() -> (Console, String) {
    let console = Console::start();
    let ward = condition("user.ward", "eq", "er");
    let policy = console.tenant.policy(SCRIPT, "chart:read", "allow", 10, &ward);
    let path = format!("PUT /api/v1/abac/policies/{policy}");
    console.tenant.manage(&path, &json!({"priority": 20})).is(200);
    (console, policy)
}

#[test]
fn revisions_say_what_they_changed() {
    let (console, _) = with_history();
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page("changes")).is(200);
    for expected in [
        "<h1>Changes</h1>",
        "role=\"img\" aria-label=\"Revisions 1 to 3: 3 with 3 changed records\"",
        "<ul aria-label=\"Revisions\"",
        "changes/3\">Revision 3</a>",
        "by boss",
        "GET /api/v1/revisions",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    let one = browser.get(&console.page("changes/3")).is(200);
    for expected in [
        "<h1>Revision 3</h1>",
        "<table aria-label=\"What changed\">",
        "<td>priority</td><td class=\"value\">10</td><td class=\"value\">20</td>",
        "`priority` from 10 to 20",
        "changes/3/restore\">Restore</a>",
    ] {
        assert!(one.text.contains(expected), "{expected}: {}", one.text);
    }
    let two = browser.get(&console.page("changes/3/diff/1")).is(200);
    assert!(two.text.contains("<h1>Revision 3 to 1</h1>"), "{}", two.text);
    for page in [&page, &one, &two] {
        assert!(!page.text.contains("<script>alert"), "{}", page.text);
    }
    for unknown in ["changes/99", "changes/x", "changes/1/diff/99", "changes/99/restore"] {
        browser.get(&console.page(unknown)).is(404);
    }
    browser.get(&console.page("changes/3?at=now")).is(400);
}

#[test]
fn a_revision_is_restored_after_a_preview_of_the_same_content() {
    let (console, policy) = with_history();
    let tenant = &console.tenant;
    let priority =
        || tenant.get(&format!("/api/v1/abac/policies/{policy}")).json()["priority"].clone();
    let mut browser = console.signed_in("ines", &["admin"]);
    let path = console.page("changes/2/restore");
    let page = browser.get(&path).is(200);
    for expected in [
        "<h1>Restore revision 2</h1>",
        "<td>priority</td><td class=\"value\">20</td><td class=\"value\">10</td>",
        "<label for=\"message\">Message</label>",
        "name=\"revision\" value=\"3\"",
        "<button>Restore</button>",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    let send = format!("{path}/restore");
    let fields = |revision| [("revision", revision), ("message", "back <b>")];
    // A preview of another content, and a form without the token.
    let late = browser.post(&send, &page, &fields("2")).is(412);
    assert!(
        late.text.contains("value=\"back &#60;b&#62;\"") && late.text.contains("role=\"alert\"")
    );
    let forged = super::browser::form(&send, &fields("3")).header("sec-fetch-site", "same-origin");
    browser.send(forged).is(403);
    assert_eq!(priority(), 20);
    let done = browser.post(&send, &page, &fields("3")).is(303);
    assert_eq!(location(&done), console.page("changes"));
    assert_eq!(priority(), 10);
    let after = browser.get(&console.page("changes")).is(200);
    for expected in ["role=\"status\">The revision is restored.", "back &#60;b&#62;", ">restore<"] {
        assert!(after.text.contains(expected), "{expected}: {}", after.text);
    }
    let newest = tenant.get("/api/v1/revisions").json()[0].clone();
    assert_eq!((&newest["credential"], &newest["actor"]), (&json!("session"), &json!("ines")));
}

#[test]
fn what_decides_without_an_owner_is_counted_where_others_have_one() {
    let (console, _) = with_history();
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page("changes")).is(200);
    assert!(!page.text.contains("<h2>Drift</h2>"), "nothing has an owner: {}", page.text);
    let rule = json!({"sub": "eve", "obj": "chart:read", "act": "read", "effect": "allow"});
    let body = json!({"owner": "git:acme", "prune": false, "bundle": {"rules": [rule]}});
    console.tenant.manage("POST /api/v1/apply", &body).is(200);
    let page = browser.get(&console.page("changes")).is(200);
    for expected in ["<h2>Drift</h2>", "<a href=\"policies\">policies</a> (1)."] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
}

#[test]
fn a_restoration_shows_the_decisions_that_it_would_flip() {
    let (console, policy) = with_history();
    let tenant = &console.tenant;
    let path = format!("PUT /api/v1/abac/policies/{policy}");
    tenant.manage(&path, &json!({"effect": "deny"})).is(200);
    let check = json!({
        "subject": "ann", "resource": "chart:read", "action": "read",
        "attributes": {"user": {"ward": "er"}},
    });
    let denied = console.recorded(&check);
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page("changes/3/restore")).is(200);
    for expected in [
        "<h2>Decisions of the last day</h2>",
        "1 decided again: 0 would become denials, 1 would become allows.",
        "<table aria-label=\"Decisions that flip\">",
        &*format!("decisions/{denied}\">chart:read</a>"),
        "<td><span class=\"badge allow\">Allow</span></td>",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    let (flips, button) =
        (page.text.find("Decisions that flip"), page.text.find("<button>Restore"));
    assert!(flips < button && button.is_some(), "{}", page.text);
    assert!(!page.text.contains("<script>alert"), "{}", page.text);
    // Nothing is restored, so that nothing flips.
    let same = browser.get(&console.page("changes/4/restore")).is(200);
    assert!(!same.text.contains("Decisions of the last day"), "{}", same.text);
}

#[test]
fn a_restoration_without_a_record_says_so() {
    let console = Console::with(Settings::new(Provider::shared()));
    console.tenant.policy("own", "chart:read", "allow", 10, &always());
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page("changes/1/restore")).is(200);
    for expected in ["Which decisions would flip is not known", "<button>Restore</button>"] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
}

#[test]
fn a_proposal_is_approved_by_a_second_manager_or_rejected() {
    let console = Console::start();
    let tenant = &console.tenant;
    let apply = |who: &str, bundle: Value| {
        let body =
            json!({"owner": "git:acme", "prune": false, "message": SCRIPT, "bundle": bundle});
        let token = tenant.token(who, &[MANAGER]);
        tenant.send(&Request::new("POST /api/v1/apply").token(&token).json(&body))
    };
    apply("boss", json!({"settings": {"gates": {"approval": true}}})).is(200);
    let propose = |sub: &str| {
        let rule = json!({"sub": sub, "obj": "chart:read", "act": "read", "effect": "allow"});
        let reply = apply("zoe", json!({"rules": [rule]})).is(202).json();
        reply["proposal"]["id"].as_str().expect("an id").to_owned()
    };
    let (first, second) = (propose("eve"), propose("mallory"));
    let mut proposer = console.signed_in("zoe", &["admin"]);
    let mut manager = console.signed_in("ines", &["admin"]);
    let list = manager.get(&console.page("proposals")).is(200);
    assert!(list.text.contains("&#60;script&#62;") && !list.text.contains("<script>alert"));
    let path = console.page(&format!("proposals/{first}"));
    let page = manager.get(&path).is(200);
    for expected in [
        "<h1>&#60;script&#62;alert(1)&#60;/script&#62;</h1>",
        "<table aria-label=\"What changed\">",
        "eve",
        "<button>Approve</button>",
        "<button class=\"quiet\">Reject</button>",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    let own = proposer.get(&path).is(200);
    let refused = proposer.post(&format!("{path}/approve"), &own, &[]).is(403);
    assert!(refused.text.contains("<h1>Not allowed</h1>"), "{}", refused.text);
    tenant.decide("eve", "chart:read", "read").is_default();
    let done = manager.post(&format!("{path}/approve"), &page, &[]).is(303);
    assert_eq!(location(&done), path);
    assert!(tenant.decide("eve", "chart:read", "read").allowed());
    let after = manager.get(&path).is(200);
    assert!(after.text.contains("approved") && !after.text.contains("<button>Approve"));
    let path = console.page(&format!("proposals/{second}"));
    let page = manager.get(&path).is(200);
    manager.post(&format!("{path}/reject"), &page, &[]).is(303);
    tenant.decide("mallory", "chart:read", "read").is_default();
    manager.post(&format!("{path}/approve"), &page, &[]).is(409);
    manager.get(&console.page(&format!("proposals/{NO_ID}"))).is(404);
}
