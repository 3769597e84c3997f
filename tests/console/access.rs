//! The matrix, its cells, and the questions who and what: decided as the API decides.

use serde_json::json;

use super::Console;
use super::browser::Browser;
use crate::support::tenant::condition;

/// A console with rules, and a manager's browser.
fn decided() -> (Console, Browser) {
    let console = Console::start();
    let tenant = &console.tenant;
    tenant.resource("chart:write");
    // A link has no domain of a token, so that its pages ask in the domain that has the name of the tenant.
    for (sub, obj, act) in [("doctor", "chart:read", "read"), ("=cmd()", "chart:write", "write")] {
        let rule = json!({"sub": sub, "dom": "*", "obj": obj, "act": act, "effect": "allow"});
        tenant.manage("POST /api/v1/resources/policies", &rule).is(201);
    }
    let ward = condition("user.ward", "eq", "er");
    tenant.policy("<script>own</script>", "chart:write", "allow", 1, &ward);
    let browser = console.signed_in("ines", &["admin"]);
    (console, browser)
}

fn cells(text: &str) -> usize {
    text.matches("data-testid=\"cell\"").count()
}

#[test]
fn a_matrix_has_a_decision_and_a_why_for_each_cell() {
    let (console, mut browser) = decided();
    let text = browser.whole(&console.page("access"), "?roles=doctor,nurse&subjects=ann");
    for expected in [
        "<form aria-label=\"Choose\"",
        "<table aria-label=\"Access\"",
        "<th scope=\"row\">doctor</th>",
        "<th scope=\"row\">ann</th>",
        "<th scope=\"col\">chart:read</th>",
        "data-testid=\"cell\" data-decision=\"allow\"",
        "data-testid=\"cell\" data-decision=\"deny\"",
        "data-testid=\"cell\" data-decision=\"conditional\"",
        "role=doctor&#38;resource=chart%3Aread&#38;action=read\">Why</a>",
        "POST /api/v1/matrix",
        ">CSV</a>",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert_eq!(cells(&text), 6, "three rows and two resources: {text}");
    // Without a choice the roles that rules name are there.
    let first = browser.get(&console.page("access")).is(200);
    assert!(first.text.contains("<th scope=\"row\">doctor</th>"), "{}", first.text);
    // Before the first rule, nobody had anything.
    let earlier = browser.get(&console.page("access?roles=doctor&at_revision=1")).is(200);
    assert!(!earlier.text.contains("data-decision=\"allow\""), "{}", earlier.text);
    let wrong = browser.get(&console.page("access?roles=doctor&resources=no")).is(400);
    assert!(wrong.text.contains("role=\"alert\"") && wrong.text.contains("value=\"doctor\""));
    for unknown in ["at=now", "actor=x", "role=doctor"] {
        browser.get(&console.page(&format!("access?{unknown}"))).is(400);
    }
}

#[test]
fn a_wide_matrix_has_pages_and_its_file_has_all() {
    let (console, mut browser) = decided();
    let add = |numbers: std::ops::Range<u32>| {
        numbers.for_each(|number| _ = console.tenant.resource(&format!("doc{number}:read")));
    };
    add(0..38);
    let text = browser.whole(&console.page("access"), "?roles=doctor");
    assert!(text.contains("class=\"matrix\"") && cells(&text) == 40, "{text}");
    add(38..40);
    // Afterwards the plans are in memory, so that no page ends early.
    assert_eq!(cells(&browser.whole(&console.page("access"), "?roles=doctor")), 42);
    // The cells of a heat-map show a letter, and have the whole word.
    let page = browser.get(&console.page("access?roles=doctor")).is(200);
    assert!(page.text.contains("class=\"matrix heat\""), "{}", page.text);
    assert!(page.text.contains("<span class=\"badge allow\">Allow</span>"), "{}", page.text);
    add(40..100);
    assert_eq!(cells(&browser.whole(&console.page("access"), "?roles=doctor")), 102);
    let page = browser.get(&console.page("access?roles=doctor")).is(200);
    assert_eq!(cells(&page.text), 100, "{}", page.text);
    assert!(page.text.contains("Not all columns are here"), "{}", page.text);
    let file = browser.get(&console.page("access.csv?roles=doctor")).is(200);
    assert_eq!(file.text.lines().count(), 1 + 102 + 1, "{}", file.text);
}

#[test]
fn a_cell_says_what_decides() {
    let (console, mut browser) = decided();
    let cell = |query: &str| {
        console.page(&format!("access/cell?{query}&action=write&resource=chart:write"))
    };
    let page = browser.get(&cell("role=doctor")).is(200);
    for expected in [
        "<h1>Why</h1>",
        "data-testid=\"outcome\">If<",
        "user.ward == &#34;er&#34;",
        "&#60;script&#62;own",
        "<h2>Why</h2>",
        "data-testid=\"node\"",
        "Ask with attributes",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    assert!(!page.text.contains("<script>own"), "{}", page.text);
    let sure = browser.get(&console.page("access/cell?role=doctor&resource=chart:read")).is(200);
    assert!(sure.text.contains("data-testid=\"outcome\">Allow<"), "{}", sure.text);
    assert!(sure.text.contains("rule doctor, "), "{}", sure.text);
    browser.get(&console.page("access/cell?role=doctor&resource=no")).is(400);
}

#[test]
fn a_file_has_no_formula_and_says_that_it_is_complete() {
    let (console, mut browser) = decided();
    let file =
        browser.get(&console.page("access.csv?roles=%3Dcmd()&resources=chart:write")).is(200);
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    let disposition = file.header("content-disposition").expect("an attachment");
    assert!(disposition.starts_with("attachment"), "{disposition}");
    let lines: Vec<&str> = file.text.split("\r\n").collect();
    assert_eq!(
        lines,
        [
            "subject,role,resource,action,decision,condition",
            ",'=cmd(),chart:write,write,allow,",
            "# complete",
            ""
        ]
    );
    browser.get(&console.page("access.csv?resources=chart:write")).is(400);
    browser.get(&console.page("access.csv?roles=a&cursor=x")).is(400);
    browser.get(&console.page("access/what.csv")).is(400);
}

#[test]
fn who_can_and_what_can_are_searched() {
    let (console, mut browser) = decided();
    let tenant = &console.tenant;
    for (id, role) in [("=ann", "doctor"), ("bob", "nurse")] {
        let entity = json!({"entities": [{"type": "user", "id": id, "roles": [role]}]});
        tenant.manage("PUT /api/v1/entities", &entity).is(200);
    }
    let who = "access/who?resource=chart:read&action=read&id=c-1";
    let page = browser.get(&console.page(who)).is(200);
    for expected in [
        "<h1>Who can read chart:c-1?</h1>",
        "<table aria-label=\"Subjects\">",
        "<th scope=\"col\">Because</th>",
        ">=ann</a>",
        "rule doctor, ",
        "POST /api/v1/search/subjects",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    assert!(!page.text.contains(">bob</a>"), "{}", page.text);
    let file = browser.get(&console.page(&who.replace("who?", "who.csv?"))).is(200);
    let lines: Vec<&str> = file.text.lines().collect();
    assert_eq!(lines[0], "subject,decision,because");
    assert!(lines[1].starts_with("'=ann,allow,"), "{}", file.text);
    assert_eq!(lines.last(), Some(&"# complete"));
    let what = browser.get(&console.page("access/what?subject=%3Dann")).is(200);
    for expected in ["<h1>What can =ann do?</h1>", "<table aria-label=\"Permissions\">"] {
        assert!(what.text.contains(expected), "{expected}: {}", what.text);
    }
    let file = browser.get(&console.page("access/what.csv?subject=%3Dann")).is(200);
    assert!(file.text.contains("chart:read,read,allow,") && file.text.ends_with("# complete\r\n"));
    browser.get(&console.page("access/who")).is(200);
    browser.get(&console.page("access/what")).is(200);
    let wrong = browser.get(&console.page("access/who?resource=chart")).is(400);
    assert!(wrong.text.contains("role=\"alert\"") && wrong.text.contains("value=\"chart\""));
    browser.get(&console.page("access/who?resource=chart:read&at=now")).is(400);
}
