//! `portcullis matrix`, `who-can` and `what-can` with `--url`.

use serde_json::json;

use super::directory::hospital;
use crate::support::process::{finish, portcullis};

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
