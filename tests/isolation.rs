//! The wall between tenants, and who may use which route: every row of the route table,
//! with every kind of credential, on own, foreign and unknown ids, in both modes.

use std::cell::Cell;
use std::collections::BTreeSet;

use http::Method;
use portcullis_auth::{AdminKeys, Mode};
use serde_json::{Value, json};

use crate::support::resolver::{Form, guest};
use crate::support::saas::{self, ADMIN_KEY, Account};
use crate::support::tenant::always;
use crate::support::{
    ALL_PERMISSIONS, MANAGER, NO_ID, Provider, Reply, Request, Settings, Tenant, eventually,
    eventually_some,
};

mod named_domain;
mod proposals;
mod table;

use table::{Access, Kind, RESOLVER, ROUTES, Row};

/// One of two tenants of a server.
struct Party<'p> {
    tenant: Tenant<'p>,
    /// The tenant's id.
    id: String,
    /// A service key that may do everything.
    key: String,
    /// The id of that key.
    key_id: String,
    /// For each of [`ALL_PERMISSIONS`], a key that has all others.
    lacking: Vec<String>,
    /// Numbers the records, so that names are new where they must be.
    next: Cell<usize>,
    /// Whether the gate `approval` of the tenant is closed.
    is_gated: Cell<bool>,
}

impl<'p> Party<'p> {
    fn new(tenant: Tenant<'p>, id: &str) -> Self {
        let issue = |permissions: &[&str]| {
            let body = json!({"name": "k", "permissions": permissions});
            tenant.manage("POST /api/v1/service-api-keys", &body).is(201)
        };
        let others = |left_out: &str| {
            let others = ALL_PERMISSIONS.iter().copied().filter(|one| *one != left_out);
            issue(&others.collect::<Vec<_>>()).text_of("key")
        };
        let lacking = ALL_PERMISSIONS.iter().copied().map(others).collect();
        let issued = issue(&ALL_PERMISSIONS);
        let (key, key_id) = (issued.text_of("key"), issued.id());
        Self {
            id: id.to_owned(),
            key,
            key_id,
            lacking,
            tenant,
            next: Cell::new(0),
            is_gated: Cell::new(false),
        }
    }

    fn number(&self) -> usize {
        self.next.replace(self.next.get() + 1)
    }

    /// Creates a record, and gives its id. Both parties give their records the same names.
    fn record(&self, kind: Kind) -> String {
        let (tenant, n) = (&self.tenant, self.number());
        self.set_gate(kind == Kind::Proposal);
        match kind {
            Kind::Proposal => self.proposal(n),
            Kind::None | Kind::File => String::new(),
            Kind::Resource => tenant.resource(&format!("record-{n}:read")),
            Kind::Rule => tenant.rule(&format!("record-{n}"), "doc:read", "read", "allow"),
            Kind::Policy => {
                tenant.policy(&format!("record-{n}"), "doc:write", "deny", 1, &always())
            }
            Kind::Entity => {
                let id = format!("{}-{n}", tenant.name);
                let body = json!({"entities": [{"type": "user", "id": id}]});
                tenant.manage("PUT /api/v1/entities", &body).is(200);
                id
            }
            Kind::Tuple => {
                let id = format!("{}-{n}", tenant.name);
                let relations = json!({"relations": {"member": "[user]"}});
                tenant.manage("PUT /api/v1/types/folder", &relations);
                let tuple = json!({"object": format!("folder:{id}"), "relation": "member", "subject": "user:a"});
                tenant.manage("POST /api/v1/relations", &json!({"write": [tuple]})).is(200);
                id
            }
            Kind::Revision => {
                let [first, _] = ["a", "b"].map(|name| {
                    let body = json!({"includes": [name]});
                    let role = format!("PUT /api/v1/roles/{}-revision-{n}", tenant.name);
                    let written = tenant.manage(role, &body);
                    written.header("x-policy-revision").expect("a revision").to_owned()
                });
                first
            }
            Kind::Decision => {
                let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
                let reply = tenant.check(&check).is(200);
                let id = reply.header("x-decision-id").expect("it is recorded").to_owned();
                let route = format!("/api/v1/decisions/{id}");
                eventually("the record is on disk", || tenant.get(&route).status == 200);
                id
            }
            Kind::Replay => {
                let candidate = json!({"candidate": {"bundle": {}}});
                let id = tenant.manage("POST /api/v1/replays", &candidate).is(202).id();
                let report = || tenant.get(&format!("/api/v1/replays/{id}")).is(200).json();
                eventually("the replay is complete", || report()["complete"] == true);
                id
            }
            Kind::Role => {
                let name = format!("{}-role-{n}", tenant.name);
                let body = json!({"includes": ["staff"]});
                tenant.manage(format!("PUT /api/v1/roles/{name}"), &body).is(201);
                name
            }
            Kind::Draft => {
                // A tenant has few.
                let name = format!("{}-draft-{}", tenant.name, n % 8);
                let put = format!("PUT /api/v1/drafts/{name}");
                let status = tenant.manage(put, &json!({"bundle": {}})).status;
                assert!([200, 201].contains(&status), "{status}");
                name
            }
            Kind::Shadow => {
                // A tenant has one.
                let name = format!("{}-shadow", tenant.name);
                let put = format!("PUT /api/v1/drafts/{name}");
                let status = tenant.manage(put, &json!({"bundle": {}, "shadow": true})).status;
                assert!([200, 201].contains(&status), "{status}");
                name
            }
            Kind::Type => {
                let name = format!("{}-type-{n}", tenant.name);
                let body = json!({"properties": {"owner": {"type": "text"}}});
                tenant.manage(format!("PUT /api/v1/types/{name}"), &body).is(201);
                name
            }
            Kind::Condition => {
                let name = format!("{}_condition_{n}", tenant.name.replace('-', "_"));
                let body = json!({"when": "user.level > 3"});
                tenant.manage(format!("PUT /api/v1/conditions/{name}"), &body).is(201);
                name
            }
            Kind::Webhook => {
                let body = json!({
                    "url": "https://hook.example/", "events": ["access.denied"],
                    "secret": "0123456789abcdef",
                });
                tenant.manage("POST /api/v1/webhooks", &body).is(201).id()
            }
            Kind::Resolver => tenant.directory(&format!("record_{n}")),
            Kind::Delivery => {
                let webhook = format!("/api/v1/webhooks/{}", self.record(Kind::Webhook));
                tenant.send(&tenant.managing(format!("POST {webhook}/test"))).is(202);
                // Nobody is there; but it was tried.
                let attempt = eventually_some("the test event was attempted", || {
                    let attempts = tenant.get(&format!("{webhook}/deliveries")).is(200).json();
                    attempts.get(0).cloned()
                });
                let delivery = attempt["delivery_id"].as_str().expect("an id");
                format!("{webhook}/deliveries/{delivery}")
            }
            Kind::Key | Kind::TenantKey => {
                let body = json!({"name": format!("record-{n}")});
                tenant.manage("POST /api/v1/service-api-keys", &body).is(201).id()
            }
            Kind::Tenant => self.id.clone(),
            Kind::SpareTenant => {
                let body =
                    json!({"name": "Spare", "slug": format!("{}-spare-{n}", self.tenant.name)});
                saas::operating("POST /admin/tenants").json(&body).send(tenant.address).is(201).id()
            }
            Kind::Provider => {
                let issuer = format!("https://{}.example/{n}", tenant.name);
                let body = json!({"issuer_url": issuer, "jwks_uri": "https://keys.example/"});
                let route = format!("POST /admin/tenants/{}/identity-providers", self.id);
                saas::operating(route).json(&body).send(tenant.address).is(201).id()
            }
        }
    }

    /// The request of a row, about the record `id`, without a credential.
    fn request(&self, row: &Row, id: &str) -> Request {
        let n = format!("new-{}", self.number());
        let path = match row.kind {
            Kind::Provider => row.route.replace("{id}", &self.id).replace("{idpId}", id),
            Kind::TenantKey => row.route.replace("{id}", &self.id).replace("{keyId}", id),
            Kind::Entity => row.route.replace("{type}", "user").replace("{id}", id),
            Kind::Tuple if row.route.starts_with("DELETE") => {
                format!("{}?object=folder:{id}", row.route)
            }
            Kind::None if row.route == "DELETE /api/v1/decisions" => {
                format!("{}?subject=nobody", row.route)
            }
            // It would go on for minutes.
            Kind::None if row.route.ends_with("/stream") => format!("{}?seconds=1", row.route),
            Kind::Role | Kind::Condition | Kind::Draft | Kind::Shadow => {
                row.route.replace("{name}", id)
            }
            Kind::Type => row.route.replace("{type}", id),
            Kind::Revision => ["{n}", "{a}", "{b}"]
                .into_iter()
                .fold(row.route.to_owned(), |path, name| path.replace(name, id)),
            // The name is a word.
            Kind::None if row.route.contains("/conditions/") => {
                row.route.replace("{name}", &n.replace('-', "_"))
            }
            Kind::None => {
                let path = row.route.replace("{type}/{id}", &format!("user/{n}"));
                path.replace("{type}", &n).replace("{name}", &n)
            }
            Kind::File => row.route.replace("{file}", "swagger-ui.css").replace("{tenant}", "acme"),
            Kind::Delivery if id.starts_with('/') => format!("POST {id}/redeliver"),
            Kind::Delivery => row.route.replace("{id}", id).replace("{delivery_id}", id),
            _ => row.route.replace("{id}", id),
        };
        let request = Request::new(path);
        if row.body.is_empty() {
            return request;
        }
        if row.body == RESOLVER {
            let manifest = row.body.replace("$new", &n.replace('-', "_"));
            let form = Form::default().part("manifest", manifest);
            return form.part("module", guest("directory")).on(request);
        }
        let body = row.body.replace("$domain", &self.tenant.name);
        request.body("application/json", body.replace("$id", id).replace("$new", &n))
    }
}

/// A way to prove who one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Credential {
    None,
    Malformed,
    Member,
    Manager,
    Key,
    LackingKey,
    AdminKey,
    AdminBearer,
    Two,
}

const CREDENTIALS: [Credential; 9] = [
    Credential::None,
    Credential::Malformed,
    Credential::Member,
    Credential::Manager,
    Credential::Key,
    Credential::LackingKey,
    Credential::AdminKey,
    Credential::AdminBearer,
    Credential::Two,
];

impl Credential {
    fn put_on(self, request: Request, party: &Party<'_>, access: Access) -> Request {
        let tenant = &party.tenant;
        let manager = || tenant.token("boss", &[MANAGER]);
        match self {
            Self::None => request,
            Self::Malformed => request.header("authorization", "Basic Ym9zczpib3Nz"),
            Self::Member => request.token(&tenant.token("alice", &["user"])),
            Self::Manager => request.token(&manager()),
            Self::Key => request.header("x-service-api-key", &party.key),
            Self::LackingKey => {
                let needed = match access {
                    Access::Manage(permission) | Access::Own(permission) => permission,
                    Access::Check => "access:evaluate",
                    Access::Search | Access::SearchOthers | Access::Conditions => "access:search",
                    _ => ALL_PERMISSIONS[0],
                };
                let index =
                    ALL_PERMISSIONS.iter().position(|one| *one == needed).expect("it is known");
                request.header("x-service-api-key", &party.lacking[index])
            }
            Self::AdminKey => request.header("x-admin-api-key", ADMIN_KEY),
            Self::AdminBearer => request.token(ADMIN_KEY),
            Self::Two => request.token(&manager()).header("x-service-api-key", &party.key),
        }
    }

    /// The refusal that it meets, if it is refused.
    fn refusal(self, access: Access) -> Option<(u16, &'static str)> {
        const UNAUTHENTICATED: Option<(u16, &str)> = Some((401, "UNAUTHENTICATED"));
        const DENIED: Option<(u16, &str)> = Some((403, "ACCESS_DENIED"));
        match (access, self) {
            (Access::Open, _)
            | (
                Access::Check | Access::Search | Access::Own(_),
                Self::Member | Self::Manager | Self::Key,
            )
            | (
                Access::Manage(_) | Access::Conditions | Access::SearchOthers,
                Self::Manager | Self::Key,
            )
            | (Access::Tokens, Self::Manager)
            | (Access::Operate, Self::AdminKey | Self::AdminBearer) => None,
            (_, Self::Two) => Some((400, "BAD_REQUEST")),
            (
                Access::Manage(_) | Access::Conditions | Access::SearchOthers,
                Self::Member | Self::LackingKey,
            )
            | (Access::Check | Access::Search | Access::Own(_), Self::LackingKey)
            | (Access::Tokens, Self::Member) => DENIED,
            _ => UNAUTHENTICATED,
        }
    }
}

/// Every row of the route table, as `METHOD /path`, or `* /path` for a row with every method.
fn table_of(saas: bool) -> BTreeSet<String> {
    let mode =
        if saas { Mode::Saas { admin_keys: AdminKeys::default() } } else { Mode::Selfhost(None) };
    let rows = portcullis_api::table_of(&mode);
    rows.map(|(kind, path)| format!("{} {path}", kind.method().map_or("*", Method::as_str)))
        .collect()
}

fn rows(saas: bool) -> impl Iterator<Item = &'static Row> {
    ROUTES.iter().filter(move |row| saas || row.access != Access::Operate)
}

/// Runs `test` with two tenants of one server, in both modes.
fn in_both_modes(test: fn(bool, [&Party<'_>; 2])) {
    // Every credential on every route makes records.
    let settings = Settings::new(Provider::shared()).set("QUOTA_WEBHOOKS", "none");
    let selfhost = settings.recording().start();
    let of = |name| Party::new(Tenant::with_provider(&selfhost, Provider::shared(), name), name);
    test(false, [&of("north"), &of("south")]);
    let settings = saas::settings().set("QUOTA_WEBHOOKS", "none");
    let saas = settings.recording().start();
    let accounts = ["north", "south"].map(|slug| Account::open(&saas, slug));
    let [own, foreign] =
        accounts.each_ref().map(|account| Party::new(account.tenant(&saas), &account.id));
    test(true, [&own, &foreign]);
}

#[test]
fn the_table_has_each_row_of_the_service_and_no_other() {
    for saas in [false, true] {
        let table: BTreeSet<String> = rows(saas).map(|row| row.route.to_owned()).collect();
        assert_eq!(table_of(saas), table);
    }
}

#[test]
fn each_route_serves_those_it_is_for_and_nobody_else() {
    in_both_modes(|saas, [own, foreign]| {
        for row in rows(saas) {
            // Whoever is refused leaves the records as they are, so that all those have the same ones.
            let untouched = [own, foreign].map(|party| party.record(row.kind));
            for credential in CREDENTIALS {
                // Whoever is refused learns nothing about ids.
                let send = |id: &str| {
                    let request = own.request(row, id);
                    let reply =
                        credential.put_on(request, own, row.access).send(own.tenant.address);
                    if row.route == "POST /api/v1/replays" && reply.status == 202 {
                        // A tenant has few at once.
                        own.tenant.delete(&format!("/api/v1/replays/{}", reply.id())).is(204);
                    }
                    reply
                };
                let [mine, theirs] = match credential.refusal(row.access) {
                    Some(_) => untouched.clone(),
                    None => [own, foreign].map(|party| party.record(row.kind)),
                };
                let served = send(&mine);
                let others = [theirs, NO_ID.to_owned()].map(|id| send(&id));
                judge(row, credential, &served, &others);
            }
        }
    });
}

fn judge(row: &Row, credential: Credential, own: &Reply, others: &[Reply; 2]) {
    let what = format!("{} with {credential:?}: {}", row.route, own.text);
    if let Some((status, code)) = credential.refusal(row.access) {
        own.clone().refused(status, code);
        assert!(others.iter().all(|other| other.outcome() == own.outcome()), "{what}");
        return;
    }
    assert_eq!(own.status, row.served, "{what}");
    let [foreign, unknown] = others;
    match row.kind {
        Kind::None | Kind::File | Kind::Tuple => {
            assert_eq!((foreign.status, unknown.status), (own.status, own.status))
        }
        // The operator has no tenant: any one is its own. Revisions are numbers, which others have too.
        Kind::Tenant | Kind::SpareTenant | Kind::Revision => {
            unknown.clone().refused(404, "NOT_FOUND");
        }
        _ => {
            foreign.clone().refused(404, "NOT_FOUND");
            assert_eq!(foreign.outcome(), unknown.outcome(), "{what}");
        }
    }
}

/// Whether a good request of the row changes something.
fn changes(row: &Row) -> bool {
    let only_tries_out = row.route.ends_with("/resolvers/{id}/test");
    // The spare tenant is active.
    let is_idle = row.route.ends_with("/resume");
    use Access::{Check, Conditions, Open, Search, SearchOthers};
    let is_check = matches!(row.access, Open | Check | Search | SearchOthers | Conditions);
    let is_replay = row.route.contains("/replays");
    !(row.route.starts_with("GET ") || is_check || only_tries_out || is_idle || is_replay)
}

#[test]
fn each_change_has_an_audit_record_and_nothing_else_has_one() {
    in_both_modes(|saas, [own, _]| {
        for (n, row) in rows(saas).enumerate() {
            let id = own.record(row.kind);
            let (credential, expected) = match row.access {
                Access::Operate => (Credential::AdminKey, json!(["admin", "admin_key", null])),
                Access::Manage(_) => (
                    Credential::Key,
                    json!([format!("key:{}", own.key_id), "service_key", own.key_id]),
                ),
                _ => (Credential::Manager, json!(["boss", "token", null])),
            };
            let request = credential.put_on(own.request(row, &id), own, row.access);
            let request_id = format!("audited-{n}");
            let request = request.header("x-request-id", &request_id);
            assert_eq!(request.send(own.tenant.address).status, row.served, "{}", row.route);
            let list = match row.access {
                Access::Operate => saas::operating("GET /admin/audit").send(own.tenant.address),
                _ => own.tenant.get("/api/v1/audit"),
            };
            let records = list.is(200).json();
            let records = records.as_array().into_iter().flatten();
            let found: Vec<_> =
                records.filter(|record| record["request_id"] == *request_id).collect();
            assert_eq!(!found.is_empty(), changes(row), "{}: {found:?}", row.route);
            for record in found {
                let who = json!([record["actor"], record["credential"], record["key"]]);
                assert_eq!(who, expected, "{}: {record}", row.route);
            }
        }
    });
}

/// The lists of a tenant, and what is in them.
const LISTS: [(&str, Kind); 8] = [
    ("/api/v1/resources", Kind::Resource),
    ("/api/v1/resources/policies", Kind::Rule),
    ("/api/v1/abac/policies", Kind::Policy),
    ("/api/v1/service-api-keys", Kind::Key),
    ("/api/v1/webhooks", Kind::Webhook),
    ("/api/v1/resolvers", Kind::Resolver),
    ("/api/v1/proposals", Kind::Proposal),
    ("/api/v1/entities", Kind::Entity),
];

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|record| record["id"].as_str()).collect()
}

#[test]
fn lists_show_nothing_of_others() {
    in_both_modes(|_, [own, foreign]| {
        for (list, kind) in LISTS {
            let [mine, theirs] =
                [own, foreign].map(|party| [party.record(kind), party.record(kind)]);
            let reply = own.tenant.get(list).is(200);
            let shown = reply.json();
            assert!(mine.iter().all(|id| ids(&shown).contains(&&**id)), "{list}");
            assert!(theirs.iter().all(|id| !reply.text.contains(&**id)), "{list}");
            let tenant_ids = shown.as_array().into_iter().flatten().map(|one| &one["tenant_id"]);
            assert!(tenant_ids.into_iter().all(|id| id.is_null() || *id == *own.id), "{list}");
        }
    });
}

#[test]
fn a_cursor_is_of_no_use_to_another_tenant() {
    in_both_modes(|_, [own, foreign]| {
        for (list, kind) in LISTS {
            for party in [own, foreign] {
                party.record(kind);
                party.record(kind);
            }
            let page = own.tenant.get(&format!("{list}?limit=1")).is(200);
            let next = page.next_page().expect("there is a next page");
            own.tenant.get(next).is(200);
            foreign.tenant.get(next).refused(400, "BAD_REQUEST");
        }
    });
}

#[test]
fn a_foreign_credential_changes_nothing() {
    in_both_modes(|_, [own, foreign]| {
        let resource = own.record(Kind::Resource);
        for (kind, path) in [
            (Kind::Policy, "/api/v1/abac/policies"),
            (Kind::Webhook, "/api/v1/webhooks"),
            (Kind::Resolver, "/api/v1/resolvers"),
            (Kind::Key, "/api/v1/service-api-keys"),
        ] {
            let id = own.record(kind);
            let before = own.tenant.get(path).is(200).json();
            foreign.tenant.delete(&format!("{path}/{id}")).refused(404, "NOT_FOUND");
            assert_eq!(own.tenant.get(path).json(), before, "{path}");
        }
        let rules = format!("/api/v1/resources/{resource}/policies");
        own.tenant.get(&rules).is(200);
        foreign.tenant.get(&rules).refused(404, "NOT_FOUND");
    });
}

#[test]
fn a_domain_named_like_another_tenant_opens_nothing_of_it() {
    let server = saas::settings().start();
    let [north, south] = ["north", "south"].map(|slug| Account::open(&server, slug));
    let rule = south.tenant(&server).rule("alice", "doc:read", "read", "allow");
    south.tenant(&server).decide("alice", "doc:read", "read").is("allow", &rule);
    for domain in [&south.slug, &south.id, &north.slug] {
        let claims = json!({"dom": domain, "adm": "*"});
        let token = north.tenant(&server).token_with("alice", &[MANAGER], &claims);
        let check = json!({
            "subject": "alice", "resource": "doc:read", "action": "read", "domain": south.slug,
        });
        let reply = north.tenant(&server).check_by(&token, &check).is(200);
        assert_eq!(reply.text_of("matched_rule_id"), "default-deny");
        let list = Request::new("GET /api/v1/resources").token(&token).send(server.address);
        list.is(200).has(&json!([]));
    }
}
