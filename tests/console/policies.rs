//! The pages of what decides: policies, rules, resources, types and conditions.

use serde_json::json;

use super::Console;
use super::browser::next;
use crate::support::NO_ID;
use crate::support::tenant::condition;

const SCRIPT: &str = "<script>alert(1)</script>";

#[test]
fn policies_are_searched_and_show_what_they_decided() {
    let console = Console::start();
    let tenant = &console.tenant;
    let ward = condition("user.ward", "eq", "er");
    let policy = tenant.policy(&format!("own ward {SCRIPT}"), "chart:read", "allow", 10, &ward);
    tenant.policy("night", "chart:write", "deny", 20, &condition("user.shift", "eq", "night"));
    console.recorded(&json!({
        "subject": "ann", "resource": "chart:read", "action": "read",
        "attributes": {"user": {"ward": "er"}},
    }));
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page("policies")).is(200);
    for expected in [
        "<h1>Policies</h1>",
        "<input type=\"search\" id=\"f-q\" name=\"q\"",
        "<table aria-label=\"Policies\">",
        "<th scope=\"col\">Condition</th>",
        "user.ward == &#34;er&#34;",
        "&#60;script&#62;",
        ">never</a>",
        "GET /api/v1/abac/policies",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    let decided = format!("decisions?rule={policy}\">1</a>");
    assert!(page.text.contains(&decided), "{}", page.text);
    assert!(!page.text.contains("<script>alert"), "{}", page.text);
    let found = browser.get(&console.page("policies?q=NIGHT")).is(200);
    assert!(
        found.text.contains(">night</a>") && !found.text.contains("own ward"),
        "{}",
        found.text
    );
    let none = browser.get(&console.page("policies?q=nothing")).is(200);
    assert!(none.text.contains("No policy has a name with this part"), "{}", none.text);
    browser.get(&console.page("policies?name=night")).is(400);

    let one = browser.get(&console.page(&format!("policies/{policy}"))).is(200);
    for expected in [
        "<h1>own ward &#60;script&#62;",
        "<code aria-label=\"Condition\"><span class=\"attribute\">user.ward</span> \
         <span class=\"operator\">==</span> <span class=\"literal\">&#34;er&#34;</span></code>",
        "<h2>History</h2>",
        "<h2>Decided</h2>",
        "aria-label=\"Decisions: 0 deny, 1 allow\"",
        "changes/",
    ] {
        assert!(one.text.contains(expected), "{expected}: {}", one.text);
    }
    assert!(!one.text.contains("Edit in a draft"), "{}", one.text);
    browser.get(&console.page(&format!("policies/{NO_ID}"))).is(404);
}

#[test]
fn a_policy_says_what_it_uses_what_is_doubtful_and_what_it_covers() {
    let console = Console::start();
    let tenant = &console.tenant;
    for number in 0..20 {
        tenant.resource(&format!("chart:verb{number:02}"));
    }
    tenant.manage("PUT /api/v1/conditions/in_er", &json!({"when": "user.ward == \"er\""})).is(201);
    let policy = |name: &str, resource: &str, text: &str| {
        let rule_data = json!({"expression": text});
        let body = json!({
            "name": name, "resource": resource, "effect": "allow", "priority": 1,
            "format": "expression", "rule_data": rule_data,
        });
        let made = tenant.manage("POST /api/v1/abac/policies", &body).is(201).json();
        made["id"].as_str().expect("an id").to_owned()
    };
    let own = policy("own ward", "chart:*", "condition.in_er && !(user.n in [1, 2])");
    let lost = policy("lost", "chrat:read", "request.time == 5");
    for number in 0..11 {
        policy(&format!("user {number}"), "chart:read", "condition.in_er");
    }
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page(&format!("policies/{own}"))).is(200);
    let named = console.page("conditions?name=in_er");
    for expected in [
        &*format!("<a class=\"named\" href=\"{named}\">condition.in_er</a>"),
        "<span class=\"operator\">&#38;&#38;</span>",
        "<span class=\"literal\">2</span>",
        "The service has no doubt about it",
        "<h2>Covers</h2>",
        "access/who?resource=chart%3Averb18\">chart:verb18</a>",
        "These are the first 20 registered resources",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    assert!(!page.text.contains("chart:verb19") && !page.text.contains("style="), "{}", page.text);
    let page = browser.get(&console.page(&format!("policies/{lost}"))).is(200);
    for expected in [
        "<h2>Lint</h2>",
        "no registered resource matches `chrat:read`",
        "is undetermined in every check",
        "No registered resource has this pattern",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    // The link leads to the condition, which says who uses it.
    let page = browser.get(&named).is(200);
    for expected in [
        "<th scope=\"row\">in_er</th>",
        "<th scope=\"col\">Used by</th>",
        &*format!("policies/{own}\">own ward</a>"),
        ">user 8</a> and 2 more",
    ] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    browser.get(&console.page("conditions?name=nothing")).is(404);
    tenant.manage("PUT /api/v1/conditions/alone", &json!({"when": "user.n == 1"})).is(201);
    let page = browser.get(&console.page("conditions")).is(200);
    assert!(page.text.contains("<td>no policy</td>"), "{}", page.text);
}

#[test]
fn what_decides_is_listed() {
    let console = Console::start();
    let tenant = &console.tenant;
    tenant.rule(SCRIPT, "chart:read", "read", "deny");
    let declared = json!({"properties": {"ward": {"type": "text"}}, "about": SCRIPT});
    tenant.manage("PUT /api/v1/types/chart", &declared).is(201);
    let named = json!({"when": "user.ward == \"er\"", "about": SCRIPT});
    tenant.manage("PUT /api/v1/conditions/in_er", &named).is(201);
    let mut browser = console.signed_in("ines", &["admin"]);
    for (path, title, expected) in [
        ("rules", "Rules", "Deny"),
        ("resources", "Resources", "chart:read"),
        ("types", "Types", "ward: text"),
        ("conditions", "Conditions", "user.ward == &#34;er&#34;"),
    ] {
        let page = browser.get(&console.page(path)).is(200);
        let table = format!("<table aria-label=\"{title}\">");
        for expected in [&*format!("<h1>{title}</h1>"), &table, expected, "aria-current=\"page\""] {
            assert!(page.text.contains(expected), "{path}: {expected}: {}", page.text);
        }
        assert!(!page.text.contains("<script>alert"), "{path}: {}", page.text);
        browser.get(&console.page(&format!("{path}?q=1"))).is(400);
    }
}

#[test]
fn a_long_list_goes_on() {
    let console = Console::start();
    for number in 0..101 {
        console.tenant.rule(&format!("role{number}"), "chart:read", "read", "allow");
    }
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page("rules")).is(200);
    assert_eq!(page.text.matches("<th scope=\"row\">").count(), 100);
    let next = next(&page).expect("a link");
    let rest = browser.get(&console.page(&format!("rules{next}"))).is(200);
    assert_eq!(rest.text.matches("<th scope=\"row\">").count(), 1, "{}", rest.text);
    browser.get(&console.page(&format!("resources{next}"))).is(400);
}

#[test]
fn an_empty_tenant_is_told_what_would_stand_there() {
    let console = Console::start();
    let mut browser = console.signed_in("ines", &["admin"]);
    for (path, route) in [
        ("policies", "POST /api/v1/abac/policies"),
        ("rules", "POST /api/v1/resources/policies"),
        ("types", "PUT /api/v1/types/{type}"),
        ("conditions", "PUT /api/v1/conditions/{name}"),
        ("proposals", "approval"),
        ("access", "No rule names a role yet"),
    ] {
        let page = browser.get(&console.page(path)).is(200);
        assert!(
            page.text.contains("class=\"empty\"") && page.text.contains(route),
            "{path}: {}",
            page.text
        );
    }
}
