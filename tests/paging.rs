//! `limit` and `cursor`, on every list (`docs/semantics.md`, section 8.7).

use serde_json::{Value, json};

use crate::support::saas::{self, Account, operating};
use crate::support::tenant::always;
use crate::support::{MANAGER, Reply, Request, Server, Tenant};

/// Records of each list.
const LENGTH: usize = 5;

/// A tenant of a `saas` server whose lists all have [`LENGTH`] records, and who may read them.
struct Lists {
    server: Server,
    account: Account,
    resource: String,
}

impl Lists {
    fn new() -> Self {
        let server = saas::settings().start();
        let account = Account::open(&server, "acme");
        let lists = Self { resource: fill(&account.tenant(&server)), server, account };
        for n in 1..LENGTH {
            let body = json!({"name": "n", "slug": format!("tenant-{n}")});
            saas::operate(&lists.server, "POST /admin/tenants", &body).is(201);
            let body = json!({
                "issuer_url": format!("https://{n}.example/"), "jwks_uri": "https://keys.example/",
            });
            let route = format!("POST {}", lists.account.providers());
            saas::operate(&lists.server, route, &body).is(201);
        }
        lists
    }

    /// Every list; each has [`LENGTH`] records.
    fn all(&self) -> Vec<String> {
        vec![
            "/api/v1/resources".to_owned(),
            format!("/api/v1/resources/{}/policies", self.resource),
            "/api/v1/resources/policies".to_owned(),
            "/api/v1/resources/policies?act=read&effect=allow".to_owned(),
            "/api/v1/abac/policies?effect=deny".to_owned(),
            "/api/v1/abac/policies?resource=doc%3Aread&effect=allow".to_owned(),
            "/api/v1/service-api-keys".to_owned(),
            "/api/v1/webhooks".to_owned(),
            "/admin/tenants".to_owned(),
            self.account.providers(),
        ]
    }

    fn get(&self, path: &str) -> Reply {
        if path.starts_with("/admin") {
            return operating(format!("GET {path}")).send(self.server.address);
        }
        let token = self.account.tenant(&self.server).token("boss", &[MANAGER]);
        Request::new(format!("GET {path}")).token(&token).send(self.server.address)
    }

    /// The whole list.
    fn whole(&self, list: &str) -> Vec<Value> {
        let reply = self.get(list).is(200);
        assert_eq!(reply.header("link"), None, "{list}");
        let records = reply.json().as_array().expect("an array").clone();
        assert_eq!(records.len(), LENGTH, "{list}");
        records
    }

    /// The address of the second page.
    fn second_page(&self, list: &str) -> String {
        next(&self.get(&with(list, "limit=2")).is(200)).expect("there is a second page")
    }
}

/// Fills the lists of a tenant, and gives the id of a resource.
fn fill(tenant: &Tenant<'_>) -> String {
    for n in 0..LENGTH {
        tenant.resource(&format!("doc-{n}:read"));
        tenant.rule(&format!("user-{n}"), "*", "read", "allow");
        tenant.policy("p", "doc:read", "allow", 1, &always());
        tenant.policy("p", "doc:write", "deny", 1, &always());
        let webhook = json!({
            "url": "https://hook.example/", "events": ["access.denied"], "secret": "0123456789abcdef",
        });
        tenant.manage("POST /api/v1/webhooks", &webhook).is(201);
        if n > 0 {
            // The bootstrap key is one more.
            tenant.manage("POST /api/v1/service-api-keys", &json!({"name": "k"})).is(201);
        }
    }
    tenant.get("/api/v1/resources").json()[0]["id"].as_str().expect("an id").to_owned()
}

/// A list with one more query parameter.
fn with(list: &str, parameter: &str) -> String {
    let separator = if list.contains('?') { '&' } else { '?' };
    format!("{list}{separator}{parameter}")
}

/// The address in `Link`.
fn next(reply: &Reply) -> Option<String> {
    let link = reply.header("link")?;
    let address = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\""));
    Some(address.unwrap_or_else(|| panic!("not the form of a link: {link}")).to_owned())
}

/// The value of `cursor` in an address.
fn cursor(address: &str) -> &str {
    let (_, rest) = address.split_once("cursor=").expect("a cursor");
    rest.split('&').next().unwrap_or(rest)
}

#[test]
fn the_pages_joined_are_the_list() {
    let lists = Lists::new();
    for list in lists.all() {
        let whole = lists.whole(&list);
        for limit in [1, 2, LENGTH - 1, LENGTH, LENGTH + 1, 1000] {
            let (mut joined, mut pages) = (Vec::new(), 0);
            let mut address = Some(with(&list, &format!("limit={limit}")));
            while let Some(path) = address {
                let page = lists.get(&path).is(200);
                let records = page.json().as_array().expect("an array").clone();
                assert!(!records.is_empty() && records.len() <= limit, "{path}");
                joined.extend(records);
                pages += 1;
                address = next(&page);
            }
            assert_eq!(joined, whole, "{list} by {limit}");
            assert_eq!(pages, LENGTH.div_ceil(limit), "{list} by {limit}");
        }
    }
}

#[test]
fn lists_are_in_the_order_of_creation() {
    let lists = Lists::new();
    for list in lists.all() {
        let whole = lists.whole(&list);
        let ids: Vec<&str> = whole.iter().filter_map(|record| record["id"].as_str()).collect();
        assert!(ids.is_sorted() && ids.len() == LENGTH, "{list}: {ids:?}");
        let times = whole.iter().map(|record| record["created_at"].as_str().unwrap_or_default());
        assert!(times.is_sorted(), "{list}");
    }
}

#[test]
fn a_cursor_stays_where_it_is_when_records_come_and_go() {
    let lists = Lists::new();
    let tenant = lists.account.tenant(&lists.server);
    let list = "/api/v1/abac/policies?effect=deny";
    let whole = lists.whole(list);
    let page = lists.second_page(list);
    // The last record of the first page goes, and a new one comes.
    let id = whole[1]["id"].as_str().expect("an id");
    tenant.delete(&format!("/api/v1/abac/policies/{id}")).is(204);
    let new = tenant.policy("p", "doc:write", "deny", 1, &always());
    let second = lists.get(&page).is(200);
    assert_eq!(second.json(), json!(whole[2..4]));
    let third = lists.get(&next(&second).expect("a third page")).is(200);
    assert_eq!((&third.json()[0], &third.json()[1]["id"]), (&whole[4], &json!(new)));
    assert_eq!(next(&third), None);
}

#[test]
fn a_bad_limit_is_refused() {
    let lists = Lists::new();
    for list in lists.all() {
        for limit in ["0", "1001", "-1", "%2B1", "x", "", "1.0", "%201", "99999999999999999999999"]
        {
            let path = with(&list, &format!("limit={limit}"));
            assert!(lists.get(&path).refused(400, "BAD_REQUEST").message().contains("limit"));
        }
        let unknown = lists.get(&with(&list, "limits=0"));
        if list.starts_with("/api/v1/") {
            assert!(unknown.refused(400, "BAD_REQUEST").message().contains("`limit`"));
        } else {
            unknown.is(200);
        }
    }
}

#[test]
fn a_cursor_belongs_to_its_list_and_filter() {
    let lists = Lists::new();
    let other = lists.account.tenant(&lists.server).resource("other:read");
    let mut all = lists.all();
    let pages: Vec<String> = all.iter().map(|list| lists.second_page(list)).collect();
    all.push("/api/v1/abac/policies".to_owned());
    all.push("/api/v1/abac/policies?effect=allow".to_owned());
    all.push("/api/v1/resources/policies?effect=allow".to_owned());
    all.push("/api/v1/resources/policies?sub=user-1".to_owned());
    all.push(format!("/api/v1/resources/{other}/policies"));
    for (index, page) in pages.iter().enumerate() {
        for (other, list) in all.iter().enumerate() {
            let reply = lists.get(&with(list, &format!("cursor={}", cursor(page))));
            if other == index {
                reply.is(200);
            } else {
                let message = reply.refused(400, "BAD_REQUEST").message();
                assert!(message.contains("cursor"), "{page} on {list}: {message}");
            }
        }
    }
}

#[test]
fn a_bad_cursor_is_refused() {
    let lists = Lists::new();
    for list in lists.all() {
        let page = lists.second_page(&list);
        let good = cursor(&page);
        let end = good.len() - 2;
        let altered = format!("{}{}", &good[..end], if good.ends_with("AA") { "BB" } else { "AA" });
        for bad in
            ["", "x", "!!", "%00", &good[1..], &good[..end], &altered, &format!("{good}AAAA")]
        {
            let path = with(&list, &format!("cursor={bad}"));
            lists.get(&path).refused(400, "BAD_REQUEST");
        }
    }
}

#[test]
fn a_page_ends_where_its_records_reach_a_mebibyte() {
    let tenant = Tenant::new();
    let value = "x".repeat(250 * 1024);
    let tree =
        json!({"type": "CONDITION", "attribute": "user.a", "operator": "eq", "value": value});
    let ids: Vec<String> =
        (0..9).map(|_| tenant.policy("p", "doc:read", "deny", 1, &tree)).collect();
    let (mut joined, mut pages) = (Vec::new(), Vec::new());
    let mut address = Some("/api/v1/abac/policies".to_owned());
    while let Some(path) = address {
        let page = tenant.get(&path).is(200);
        assert!(page.text.len() <= 1024 * 1024, "{} bytes", page.text.len());
        let records = page.json().as_array().expect("an array").clone();
        joined.extend(records.iter().map(|record| record["id"].as_str().map(str::to_owned)));
        pages.push(records.len());
        address = next(&page);
    }
    assert_eq!(pages, [4, 4, 1]);
    assert_eq!(joined.into_iter().flatten().collect::<Vec<_>>(), ids);
}
