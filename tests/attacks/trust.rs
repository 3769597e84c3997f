//! Attacks 16, 18 and 19: rules that go without the right to write rules, a foreign host, and answers without headers
//! that caches and browsers obey.

use serde_json::json;

use crate::cost::Figure;
use crate::support::process::{Process, portcullis};
use crate::support::{MANAGER, Provider, Request, Server, Settings, Tenant};

/// Creates a service key of `tenant`.
fn key(tenant: &Tenant<'_>, permissions: &[&str]) -> String {
    let key = json!({"name": "attacker", "permissions": permissions});
    tenant.manage("POST /api/v1/service-api-keys", &key).is(201).text_of("key")
}

/// Attack 16: a key that may write resources, but no rules, registers a resource again without its default roles.
pub(crate) fn default_roles() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let resource = |roles: &[&str]| json!({"name": "doc:read", "defaultRoles": roles});
    tenant.manage("POST /api/v1/resources", &resource(&["reader"])).is(201);
    let key = key(&tenant, &["resources:write"]);
    for (route, body) in [
        ("POST /api/v1/resources", resource(&[])),
        ("POST /api/v1/resources/list", json!([resource(&[])])),
    ] {
        Request::new(route).header("x-service-api-key", &key).json(&body).send(server.address);
    }
    let lost = usize::from(!tenant.decide("reader", "doc:read", "read").allowed());
    vec![Figure::count("rules that are gone", lost, 0)]
}

/// Attack "vouch": a member, and a key without the right, send the tuple that makes the subject an editor.
pub(crate) fn own_tuples() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let editor = json!({"relations": {"editor": "[user]"}});
    tenant.manage("PUT /api/v1/types/doc", &editor).is(201);
    tenant.rule("editor@resource", "doc:edit", "edit", "allow");
    let tuples = json!([{"object": "doc:d1", "relation": "editor", "subject": "user:ann"}]);
    let check = json!({"subject": "ann", "resource": "doc:edit", "action": "edit",
        "attributes": {"resource": {"id": "d1"}}, "relations": tuples});
    let evaluation = json!({"subject": {"type": "user", "id": "ann"}, "action": {"name": "edit"},
        "resource": {"type": "doc", "id": "d1"}, "context": {"relations": tuples}});
    let requests = [
        ("POST /api/v1/check", check.clone()),
        ("POST /api/v1/checks", json!({"checks": [check], "relations": tuples})),
        ("POST /access/v1/evaluation", evaluation.clone()),
        ("POST /access/v1/evaluations", json!({"evaluations": [evaluation]})),
    ];
    let member = tenant.token("ann", &["editor"]);
    let key = key(&tenant, &["access:evaluate", "policies:read", "relations:write"]);
    let mut believed = 0;
    for (route, body) in &requests {
        let request = || Request::new(*route).json(body);
        for sent in [request().token(&member), request().header("x-service-api-key", &key)] {
            let answer = sent.send(server.address).text;
            let allows = ["\"allow\"", "\"decision\":true"];
            believed += usize::from(allows.iter().any(|allow| answer.contains(allow)));
        }
    }
    let boss = tenant.token("boss", &[MANAGER]);
    let managed = Request::new("POST /api/v1/check").token(&boss).json(&requests[0].1);
    let managed = managed.send(server.address).text;
    let refused = usize::from(!managed.contains("\"allow\""));
    vec![
        Figure::count("requests that a caller vouches for", believed, 0),
        Figure::count("requests of a manager that do not count", refused, 0),
    ]
}

/// Attack 18: a page on the internet reaches `portcullis dev` by a name that resolves to this machine.
pub(crate) fn foreign_hosts() -> Vec<Figure> {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = portcullis(&["dev", "--data-dir"]);
    command.arg(directory.path()).env("LISTEN_ADDR", "127.0.0.1:0");
    let process = Process::spawn(command);
    let address = process.out.wait_for(|lines| {
        let (_, address) = lines.first()?.split_once("http://")?;
        address.split(' ').next()?.parse().ok()
    });
    let address = address.expect("the address of `portcullis dev`");
    let answered =
        ["/healthz/live", "/docs", "/openapi.json", "/dev/protocol/openid-connect/certs"]
            .iter()
            .map(|path| Request::new(format!("GET {path}")).header("host", "evil.example"))
            .filter(|request| request.send(address).status != 403);
    vec![Figure::count("routes that answer a foreign host", answered.count(), 0)]
}

/// Attack 19: a proxy keeps an answer with a key, or a browser takes an answer for a page.
pub(crate) fn missing_headers() -> Vec<Figure> {
    let server: Server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let key = json!({"name": "k"});
    let created = tenant.manage("POST /api/v1/service-api-keys", &key).is(201);
    let kept = usize::from(created.header("cache-control") != Some("no-store"));
    let unknown = Request::new("GET /api/v1/unknown").send(server.address);
    let answers = [created, tenant.get("/api/v1/resources"), unknown];
    let guessed = answers
        .iter()
        .filter(|answer| answer.header("x-content-type-options") != Some("nosniff"))
        .count();
    vec![
        Figure::count("answers with a key that a cache may keep", kept, 0),
        Figure::count("answers whose type a browser may guess", guessed, 0),
    ]
}
