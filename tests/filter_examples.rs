//! The programs of `docs/filters.md`: each is run as it is printed, and selects the rows that checks allow.

use std::path::Path;
use std::process::{Command, Stdio};

use portcullis_test_postgres::Cluster;
use serde_json::{Value, json};

use crate::support::packages::{from_npm_as, from_pypi};
use crate::support::process::{finish, repository};
use crate::support::{Provider, Server, Settings, Tenant};

/// The blocks of the document in this language.
fn blocks(language: &str) -> Vec<String> {
    let document = std::fs::read_to_string(repository().join("docs/filters.md")).unwrap();
    let start = format!("```{language}\n");
    document
        .split(&start)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

/// The one program of the document in this language.
fn printed(language: &str) -> String {
    let [program] = <[String; 1]>::try_from(blocks(language)).expect("one program");
    program
}

const FOLDER: &str = "tests/filter-examples";

/// A server whose policies allow the owner and the owner's team, and deny documents of the board. Returns a key, too.
fn server() -> (Server, String) {
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    for (name, effect, when) in [
        ("owner", "allow", "resource.owner == request.subject"),
        ("team", "allow", "resource.team == user.team"),
        ("board", "deny", r#"(resource.team == "board") ?? false"#),
    ] {
        let body = json!({
            "name": name, "resource": "document:read", "effect": effect, "priority": 1,
            "format": "expression", "rule_data": {"expression": when},
        });
        tenant.manage("POST /api/v1/abac/policies", &body).is(201);
    }
    let key = json!({"name": "lists", "permissions": ["access:search", "policies:read"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &key).is(201).text_of("key");
    (server, key)
}

fn selects(folder: &Path, program: &[&str]) {
    let (server, key) = server();
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).current_dir(folder).stdin(Stdio::null());
    command.env("PORTCULLIS_URL", format!("http://{}", server.address));
    command.env("SERVICE_API_KEY", key);
    let ended = finish(command);
    assert_eq!(ended.out.trim(), "documents 1 2 5", "{}", ended.err);
}

#[test]
fn the_one_with_sqlalchemy_selects_the_allowed_rows() {
    let Some(folder) = from_pypi("filter-sqlalchemy", FOLDER) else { return };
    std::fs::write(folder.join("page.py"), printed("python")).unwrap();
    let python = folder.join("venv/bin/python");
    selects(&folder, &[&python.to_string_lossy(), "page.py"]);
}

#[test]
fn the_one_with_knex_selects_the_allowed_rows() {
    let files = ["package-lock.json", "package.json"];
    let Some(folder) = from_npm_as("filter-knex", FOLDER, &files) else { return };
    std::fs::write(folder.join("page.mjs"), printed("js")).unwrap();
    selects(&folder, &["node", "page.mjs"]);
}

/// Documents with an owner, a day and labels, and shares of them.
const ROWS: &str = "
    INSERT INTO documents SELECT CAST(lpad(to_hex(n), 32, '0') AS uuid), CAST(lpad(to_hex(n % 1000), 32, '0') AS uuid),
        date '2026-01-01' + n % 365, ARRAY['label-' || n % 300] FROM generate_series(1, 100000) AS n;
    INSERT INTO shares SELECT CAST(lpad(to_hex(n % 997), 32, '0') AS uuid),
        CAST(lpad(to_hex(n % 100000 + 1), 32, '0') AS uuid) FROM generate_series(1, 200000) AS n;
    ANALYZE;";

#[test]
fn the_schema_has_the_condition_and_the_indexes_that_the_page_names() {
    let Some(cluster) = Cluster::shared() else { return };
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let policies: Vec<Value> = serde_saphyr::from_str(&blocks("yaml")[0]).unwrap();
    for mut policy in policies {
        let when = policy.as_object_mut().unwrap().remove("when");
        policy["format"] = json!("expression");
        policy["rule_data"] = json!({"expression": when});
        tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    }
    let request = serde_json::from_str(&blocks("json")[0]).unwrap();
    let answer = tenant.manage("POST /api/v1/plan", &request).is(200).json();
    // The last is the condition of relations.
    let [schema, condition, page, _] = <[String; 4]>::try_from(blocks("sql")).expect("four blocks");
    let text = answer["sql"]["text"].as_str().unwrap();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(text), words(&condition));

    let params: Vec<_> = answer["sql"]["params"].as_array().unwrap().iter().collect();
    let values: Vec<_> =
        params.iter().map(|value| format!("'{}'", value.as_str().unwrap())).collect();
    let page = page.replace('…', text);
    let script = format!(
        "{schema}{ROWS} PREPARE page AS {page}; EXPLAIN (COSTS OFF) EXECUTE page({});",
        values.join(", ")
    );
    let database = cluster.database();
    let mut psql = cluster.shell(r#"psql -qXAt -v ON_ERROR_STOP=1 -c "$SCRIPT" "$DATABASE""#);
    psql.env("SCRIPT", script).env("DATABASE", database.name()).stdin(Stdio::null());
    let ended = finish(psql);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let [plan] = <[String; 1]>::try_from(blocks("text")).expect("one plan");
    let named: Vec<_> = plan.split_whitespace().filter(|word| word.contains('_')).collect();
    assert!(named.len() > 1, "{named:?}");
    for index in named {
        assert!(ended.out.contains(index), "`{index}` is not used: {}", ended.out);
    }
}

/// The control: checks of these rows.
#[test]
fn checks_allow_the_rows_that_the_examples_print() {
    let (server, _) = server();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let rows = [
        json!({"owner": "dana"}),
        json!({"owner": "bob", "team": "red"}),
        json!({"owner": "bob", "team": "blue"}),
        json!({"owner": "dana", "team": "board"}),
        json!({"team": "red"}),
    ];
    let allowed: Vec<usize> = (1..)
        .zip(rows)
        .filter(|(_, row)| {
            let attributes = json!({"user": {"roles": ["editor"], "team": "red"}, "resource": row});
            let body = json!({
                "subject": "dana", "resource": "document:read", "action": "read", "attributes": attributes,
            });
            let reply = tenant.send(&tenant.managing("POST /api/v1/check").json(&body)).is(200);
            reply.json()["decision"] == "allow"
        })
        .map(|(number, _)| number)
        .collect();
    assert_eq!(allowed, [1, 2, 5]);
}
