//! `portcullis matrix`, `who-can` and `what-can` with `--url`.

use serde_json::json;

use super::directory::hospital;
use crate::support::process::{finish, portcullis};
use crate::support::{MANAGER, Tenant};

/// The commands ask a service what they ask a folder.
#[test]
fn the_commands_ask_a_service() {
    let tenant = hospital();
    let body =
        json!({"name": "cli", "permissions": ["access:search", "policies:read", "resources:read"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    let url = format!("http://{}", tenant.address);
    let domain = &*tenant.name;
    let run = |arguments: &[&str]| {
        let mut command = portcullis(arguments);
        command.args(["--url", &url, "--domain", domain]).env("SERVICE_API_KEY", &key);
        finish(command)
    };
    let lines = |expected: &[&str]| expected.join("\n").replace("DOMAIN", domain);
    for (arguments, expected) in [
        (&["what-can", "cay"][..], "everything is denied".to_owned()),
        (
            &["what-can", "dan"],
            lines(&[
                "dan has chart:read in DOMAIN",
                r#"dan has chart:write in DOMAIN if user.ward == "er""#,
                "dan has chart:sign in DOMAIN",
                "dan has chart:lead in DOMAIN",
            ]),
        ),
        (
            &["what-can", "cay", "--role", "doctor"],
            lines(&["cay has chart:read in DOMAIN", "cay has chart:sign in DOMAIN"]),
        ),
        (
            &["who-can", "lead", "chart:lead"],
            lines(&[
                "chief has chart:lead in DOMAIN",
                "head has chart:lead in DOMAIN",
                "dan has chart:lead in DOMAIN",
                "eli has chart:lead in DOMAIN",
            ]),
        ),
        (
            &["matrix", "--resource", "chart:lead", "--resource", "chart:other"],
            lines(&["chief has chart:lead in DOMAIN", "head has chart:lead in DOMAIN"]),
        ),
        (
            &["matrix", "--role", "nurse", "--resource", "*"],
            lines(&[r#"nurse has chart:write in DOMAIN if user.ward == "er""#]),
        ),
    ] {
        let ended = run(arguments);
        assert_eq!((ended.code, &*ended.out), (Some(0), &*expected), "{arguments:?} {}", ended.err);
    }
    let mut command = portcullis(&["who-can", "read", "chart:read", "--url", &url]);
    command.env("SERVICE_API_KEY", "pck_no");
    let refused = finish(command);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("401"), "{}", refused.err);
}

/// Everybody who is not printed is denied: nobody is left out who is named in a policy alone, or nowhere.
#[test]
fn roles_of_policies_and_everybody_else_are_reported() {
    let tenant = Tenant::new();
    for verb in ["read", "lead", "list", "sign"] {
        let resource = json!({"name": format!("chart:{verb}")});
        tenant.manage("POST /api/v1/resources", &resource).is(201);
    }
    let policy = |name: &str, verb: &str, when: &str| {
        let policy = json!({
            "name": name, "resource": format!("chart:{verb}"), "effect": "allow", "priority": 1,
            "format": "expression", "rule_data": {"expression": when},
        });
        tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    };
    policy("auditors", "read", r#"request.roles contains "auditor""#);
    policy("own", "list", "user.ward == resource.ward");
    policy("not guests", "lead", r#"!(request.roles contains "guest")"#);
    let run = |arguments: &[&str]| {
        let mut command = portcullis(arguments);
        let url = format!("http://{}", tenant.address);
        let token = tenant.token("boss", &[MANAGER]);
        command.args(["--url", &url, "--domain", &tenant.name]).env("TOKEN", token);
        finish(command)
    };
    for (arguments, expected) in [
        (&["who-can", "read", "chart:read"][..], "auditor has chart:read in DOMAIN"),
        (
            &["matrix"],
            "auditor has chart:read in DOMAIN\n\
             auditor has chart:lead in DOMAIN\n\
             everybody else has chart:lead in DOMAIN\n\
             everybody has chart:list in DOMAIN if user.ward == resource.ward",
        ),
        (&["who-can", "sign", "chart:sign"], "everything is denied"),
    ] {
        let ended = run(arguments);
        let expected = expected.replace("DOMAIN", &tenant.name);
        assert_eq!((ended.code, &*ended.out), (Some(0), &*expected), "{arguments:?} {}", ended.err);
    }
    policy("named", "sign", "request.roles contains resource.signer");
    let ended = run(&["who-can", "sign", "chart:sign"]);
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    assert!(
        ended.out.contains("the policies `named` do not test for named roles alone"),
        "{}",
        ended.out
    );
}
