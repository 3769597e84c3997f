//! Relations in checks (`docs/semantics.md`, section 12.12).

use serde_json::{Value, json};

use crate::support::resolver::{Form, RESOLVERS, guest};
use crate::support::{Reply, Request, Tenant};

const RELATIONS: &str = "POST /api/v1/relations";

/// Writes and deletes tuples, each `<object> <relation> <subject>` with `#<relation>` after some subjects.
pub(crate) fn change(tenant: &Tenant<'_>, write: &[&str], delete: &[&str]) -> Reply {
    let tuples = |all: &[&str]| all.iter().map(|text| tuple(text)).collect::<Vec<_>>();
    let reply =
        tenant.manage(RELATIONS, &json!({"write": tuples(write), "delete": tuples(delete)}));
    reply.is(200)
}

pub(crate) fn tuple(text: &str) -> Value {
    let [object, relation, subject] = text.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{text}");
    };
    let mut tuple = json!({"object": object, "relation": relation});
    let (subject, related) = subject.split_once('#').unwrap_or((subject, ""));
    tuple["subject"] = json!(subject);
    if !related.is_empty() {
        tuple["subject_relation"] = json!(related);
    }
    tuple
}

/// A tenant with groups in groups and documents in folders in folders: viewers may read, unless they are banned.
pub(crate) fn drive() -> Tenant<'static> {
    let tenant = Tenant::new();
    as_drive(&tenant);
    tenant
}

/// Gives a tenant the types, policies and rules of [`drive`].
pub(crate) fn as_drive(tenant: &Tenant<'_>) {
    let folder = json!({
        "parent": "[folder]",
        "banned": "[user]",
        "viewer": "[user, group#member, user:*] || parent.viewer",
    });
    let document = json!({
        "parent": {"from": "[folder]", "request": "parent"},
        "editor": "[user, group#member]",
        "viewer": "editor || parent.viewer",
        "read": "viewer && !parent.banned",
    });
    let claim = json!({"name": "groups", "absent": "nobody"});
    let group = json!({"member": {"from": "[user, group#member]", "claim": claim}});
    for (name, relations) in [("group", group), ("folder", folder), ("document", document)] {
        let path = format!("PUT /api/v1/types/{name}");
        tenant.manage(&path, &json!({"relations": relations})).is(201);
    }
    let reads =
        json!({"type": "CONDITION", "attribute": "relation.read", "operator": "eq", "value": true});
    tenant.policy("readers", "document:read", "allow", 1, &reads);
    tenant.rule("editor@resource", "document:edit", "edit", "allow");
    tenant.rule("group:staff#member", "document:list", "list", "allow");
}

pub(crate) fn body(subject: &str, verb: &str, resource: Value) -> Value {
    json!({
        "subject": subject, "resource": format!("document:{verb}"), "action": verb,
        "attributes": {"resource": resource},
    })
}

#[track_caller]
fn decides(tenant: &Tenant<'_>, subject: &str, verb: &str, resource: Value, expected: &str) {
    let body = body(subject, verb, resource);
    let reply = tenant.check(&body).is(200);
    assert_eq!(reply.text_of("decision"), expected, "{body}: {}", reply.text);
}

#[test]
fn a_share_with_a_team_is_seen_and_gone_when_it_is_removed() {
    let tenant = drive();
    let d1 = || json!({"id": "d1"});
    decides(&tenant, "ann", "edit", d1(), "deny");
    change(
        &tenant,
        &["document:d1 editor group:eng#member", "group:eng member group:core#member"],
        &[],
    );
    decides(&tenant, "ann", "edit", d1(), "deny");
    change(&tenant, &["group:core member user:ann"], &[]);
    decides(&tenant, "ann", "edit", d1(), "allow");
    decides(&tenant, "ann", "read", d1(), "allow");
    decides(&tenant, "bob", "edit", d1(), "deny");
    decides(&tenant, "ann", "edit", json!({"id": "d2"}), "deny");
    decides(&tenant, "ann", "edit", json!({}), "deny");
    change(&tenant, &[], &["group:core member user:ann"]);
    decides(&tenant, "ann", "edit", d1(), "deny");
    decides(&tenant, "ann", "read", d1(), "deny");
}

#[test]
fn relations_flow_down_folders_and_stop_at_a_ban() {
    let tenant = drive();
    let tuples =
        ["folder:f1 viewer user:ann", "folder:f2 parent folder:f1", "document:d1 parent folder:f2"];
    change(&tenant, &tuples, &[]);
    decides(&tenant, "ann", "read", json!({"id": "d1"}), "allow");
    // The request says where the document is, in place of the tuples.
    decides(&tenant, "ann", "read", json!({"id": "d1", "parent": "folder:f3"}), "deny");
    decides(&tenant, "ann", "read", json!({"id": "d1", "parent": []}), "deny");
    decides(&tenant, "ann", "read", json!({"id": "new", "parent": "folder:f2"}), "allow");
    decides(
        &tenant,
        "ann",
        "read",
        json!({"id": "new", "parent": ["folder:f3", "folder:f2"]}),
        "allow",
    );
    decides(&tenant, "ann", "read", json!({"id": "new", "parent": "f2"}), "deny");
    decides(&tenant, "ann", "read", json!({"id": "new", "parent": "group:f2"}), "deny");
    change(&tenant, &["folder:f2 banned user:ann"], &[]);
    decides(&tenant, "ann", "read", json!({"id": "d1"}), "deny");
    change(&tenant, &["folder:f1 viewer user:*"], &["folder:f1 viewer user:ann"]);
    decides(&tenant, "eve", "read", json!({"id": "d1"}), "allow");
    decides(&tenant, "ann", "read", json!({"id": "d1"}), "deny");
}

#[test]
fn with_directory_wins_a_request_moves_no_document_that_has_a_folder() {
    let tenant = drive();
    change(&tenant, &["folder:open viewer user:eve", "document:d1 parent folder:closed"], &[]);
    let moved = |id: &str| json!({"id": id, "parent": "folder:open"});
    decides(&tenant, "eve", "read", moved("d1"), "allow");
    let bundle = json!({"settings": {"directory_wins": true}});
    let body = json!({"owner": "git:settings", "bundle": bundle, "prune": false});
    tenant.manage("POST /api/v1/apply", &body).is(200);
    decides(&tenant, "eve", "read", moved("d1"), "deny");
    decides(&tenant, "eve", "read", moved("d2"), "allow");
}

#[test]
fn a_rule_can_deny_by_a_relation_and_by_membership_of_a_fixed_group() {
    let tenant = drive();
    tenant.rule("*", "document:edit", "edit", "allow");
    tenant.rule("viewer@resource", "document:edit", "edit", "deny");
    change(&tenant, &["document:d1 editor user:ann", "group:staff member user:bob"], &[]);
    decides(&tenant, "ann", "edit", json!({"id": "d1"}), "deny");
    decides(&tenant, "bob", "edit", json!({"id": "d1"}), "allow");
    // Nobody knows which document it is: a rule that denies counts.
    decides(&tenant, "bob", "edit", json!({}), "deny");
    decides(&tenant, "bob", "list", json!({}), "allow");
    decides(&tenant, "ann", "list", json!({}), "deny");
}

#[test]
fn a_claim_of_the_token_is_membership_of_its_subject() {
    let tenant = drive();
    change(
        &tenant,
        &["document:d1 editor group:eng#member", "group:staff member group:eng#member"],
        &[],
    );
    let claims = json!({"groups": ["eng", "other"]});
    let token = tenant.token_with("cid", &["service"], &claims);
    for (subject, expected) in [("cid", "allow"), ("dan", "deny")] {
        for body in [body(subject, "edit", json!({"id": "d1"})), body(subject, "list", json!({}))] {
            let reply = tenant.check_by(&token, &body).is(200);
            assert_eq!(reply.text_of("decision"), expected, "{body}");
        }
    }
}

/// Lets everybody remove documents but the banned; sets the meaning of an absent claim.
fn without_the_banned(absent: &str) -> Tenant<'static> {
    let tenant = drive();
    let member =
        json!({"from": "[user, group#member]", "claim": {"name": "groups", "absent": absent}});
    tenant.manage("PUT /api/v1/types/group", &json!({"relations": {"member": member}})).is(200);
    tenant.rule("*", "document:remove", "remove", "allow");
    tenant.rule("group:banned#member", "document:remove", "remove", "deny");
    tenant
}

#[test]
fn a_deny_by_group_applies_where_the_claim_says_nothing() {
    let cases = [
        (json!({"groups": ["eng"]}), "allow", "allow", ""),
        (json!({"groups": "eng"}), "allow", "allow", ""),
        (json!({"groups": ["banned"]}), "deny", "deny", ""),
        (json!({}), "deny", "allow", "which the token does not have"),
        (json!({"groups": null}), "deny", "allow", "which the token does not have"),
        (json!({"groups": 7}), "deny", "deny", "which is neither a text nor a list of texts"),
        (json!({"groups": ["eng", 7]}), "deny", "deny", "neither a text nor a list of texts"),
        (json!({"groups": {"eng": 1}}), "deny", "deny", "neither a text nor a list of texts"),
        (json!({"_claim_names": {"groups": "src1"}}), "deny", "deny", "has a reference"),
        (json!({"hasgroups": true}), "deny", "deny", "has a reference"),
    ];
    let tenants = ["undetermined", "nobody"].map(without_the_banned);
    for (claims, undetermined, nobody, cause) in cases {
        for (tenant, expected) in tenants.iter().zip([undetermined, nobody]) {
            let token = tenant.token_with("cid", &["service"], &claims);
            let reply = tenant.check_by(&token, &body("cid", "remove", json!({}))).is(200);
            assert_eq!(reply.text_of("decision"), expected, "{claims}: {}", reply.text);
            if expected == "deny" {
                let reason = reply.text_of("reason");
                let depends = "`member` of `group:banned` depends on the claim `groups`, ";
                let says = reason.contains(depends) && reason.contains(cause);
                assert!(cause.is_empty() || says, "{reason}");
            }
        }
    }
}

#[test]
fn a_claim_of_somebody_else_is_absent_unless_tuples_say_enough() {
    for (absent, eve) in [("undetermined", "deny"), ("nobody", "allow")] {
        let tenant = without_the_banned(absent);
        tenant.rule("group:staff#member", "document:keep", "keep", "allow");
        change(&tenant, &["group:staff member user:ann", "group:banned member user:bob"], &[]);
        for (subject, verb, expected) in [
            ("bob", "remove", "deny"),
            ("eve", "remove", eve),
            ("ann", "keep", "allow"),
            ("eve", "keep", "deny"),
        ] {
            decides(&tenant, subject, verb, json!({}), expected);
        }
        let explained = body("eve", "remove", json!({}));
        let reply = tenant.manage("POST /api/v1/check?explain=true", &explained).is(200).json();
        assert_eq!(reply["decision"], eve, "{reply}");
        let relation = &reply["explanation"]["attributes"][0];
        let said = match absent {
            "nobody" => "no path through 0 groups and 0 ancestors",
            _ => {
                "`member` of `group:banned` depends on the claim `groups`, which is not known of a subject that is not the \
                 caller"
            }
        };
        assert_eq!(relation["words"], said, "{reply}");
    }
}

#[test]
fn searches_plans_and_permissions_agree_with_checks_where_a_claim_is_not_known() {
    for (absent, is_allowed) in [("undetermined", false), ("nobody", true)] {
        let tenant = without_the_banned(absent);
        change(&tenant, &["document:d1 editor user:ann"], &[]);
        let question = json!({"subject": "ann", "resource": "document:remove", "action": "remove"});
        let asked = |route: &str| tenant.manage(route, &question).is(200).json();
        let found = asked("POST /api/v1/search/resources");
        let count = found["results"].as_array().expect("a list").len();
        assert_eq!(count, usize::from(is_allowed), "{found}");
        let kind = asked("POST /api/v1/plan")["kind"].clone();
        assert_eq!(kind, if is_allowed { "always" } else { "never" });
        tenant.resource("document:remove");
        let permissions = json!({"subject": "ann"});
        let listed = tenant.manage("POST /api/v1/permissions", &permissions).is(200).json();
        let decision = if is_allowed { "allow" } else { "deny" };
        assert_eq!(listed["results"][0]["decision"], decision, "{listed}");
    }
}

#[test]
fn a_plan_of_rows_is_exact_where_an_unknown_claim_changes_nothing() {
    let tenant = without_the_banned("undetermined");
    change(&tenant, &["document:d1 editor user:ann", "document:d2 editor group:eng#member"], &[]);
    tenant.rule("*", "document:show", "show", "allow");
    tenant.rule("viewer@resource", "document:show", "show", "deny");
    let plan = |verb: &str| {
        tenant.manage("POST /api/v1/plan", &json!({
            "subject": "ann", "resource": format!("document:{verb}"), "action": verb,
            "dialect": "sqlite", "columns": {"resource.id": {"sql": "d.id", "type": "text", "collation": "binary"}},
        }))
    };
    let edit = plan("edit").is(200).json();
    assert_eq!((&edit["exact"], &edit["sql"]["params"]), (&json!(true), &json!([r#"["d1"]"#])));
    let refused = plan("show").is(422).text;
    assert!(refused.contains("depends on the claim `groups`, which is not known"), "{refused}");
}

#[test]
fn a_batch_reads_relations_and_an_explanation_shows_the_path() {
    let tenant = drive();
    let tuples = ["folder:f1 viewer group:eng#member", "group:eng member user:ann"];
    change(&tenant, &tuples, &[]);
    let placed = json!({"id": "d7", "parent": "folder:f1"});
    let batch = json!({"resource": "document:read", "action": "read", "checks": [
        {"subject": "ann", "attributes": {"resource": placed}},
        {"subject": "bob", "attributes": {"resource": placed}},
    ]});
    let token = tenant.token("gateway", &["service"]);
    let reply =
        tenant.send(&Request::new("POST /api/v1/checks").token(&token).json(&batch)).is(200);
    let decision = |at: usize| reply.json()["results"][at]["decision"].clone();
    assert_eq!((decision(0), decision(1)), (json!("allow"), json!("deny")));

    let explain = |subject: &str, verb: &str, resource: &Value| {
        let body = body(subject, verb, resource.clone());
        let reply = tenant.manage("POST /api/v1/check?explain=true", &body).is(200).json();
        let attributes = reply["explanation"]["attributes"].as_array().unwrap().clone();
        attributes.into_iter().find(|one| one["source"] == "relations").unwrap()
    };
    let read = explain("ann", "read", &placed);
    assert_eq!(
        (&read["attribute"], &read["value"]),
        (&json!("relation.read"), &json!(true)),
        "{read}"
    );
    let said = "ann → member of group eng → viewer of folder f1 → parent of document d7";
    assert_eq!(read["words"], format!("`parent.banned` does not hold, and {said}"), "{read}");
    let viewer = &read["branches"][1];
    assert_eq!(
        viewer["path"],
        json!([
            {"object": "document:d7", "relation": "parent", "subject": "folder:f1", "source": "request"},
            {"object": "folder:f1", "relation": "viewer", "subject": "group:eng", "subject_relation": "member"},
            {"object": "group:eng", "relation": "member", "subject": "user:ann"},
        ]),
        "{read}"
    );
    let staff = explain("bob", "list", &json!({}));
    assert_eq!(staff["value"], false, "{staff}");
    assert_eq!(staff["looked_at"]["groups"], 0, "{staff}");
    change(&tenant, &["group:staff member group:eng#member"], &[]);
    let staff = explain("ann", "list", &json!({}));
    assert_eq!(staff["words"], "ann → member of group eng → member of group staff", "{staff}");
    change(&tenant, &["folder:f1 banned user:ann"], &[]);
    let read = explain("ann", "read", &placed);
    let banned = "`parent.banned` holds: ann → banned of folder f1 → parent of document d7";
    assert_eq!((&read["value"], &read["words"]), (&json!(false), &json!(banned)), "{read}");
}

#[test]
fn an_explanation_has_the_answer_of_each_relation_and_says_why_there_is_none() {
    let tenant = drive();
    change(&tenant, &["document:d1 editor user:ann"], &[]);
    // The rule decides, and the policy's relation is not needed.
    tenant.rule("ann", "document:read", "read", "deny");
    let explain = |resource: Value| {
        let body = body("ann", "read", resource);
        let reply = tenant.manage("POST /api/v1/check?explain=true", &body).is(200).json();
        reply["explanation"]["attributes"][0].clone()
    };
    let read = explain(json!({"id": "d1"}));
    assert_eq!((&read["value"], &read["complete"]), (&json!(true), &json!(true)), "{read}");
    assert_eq!(read.get("because"), None, "{read}");
    let read = explain(json!({"id": "d1", "parent": "f1"}));
    assert_eq!((read.get("value"), &read["complete"]), (None, &json!(false)), "{read}");
    assert_eq!(read["words"], "`resource.parent` is not `folder:<id>` or a list of them", "{read}");
    assert_eq!(read["because"], read["words"], "{read}");
}

#[test]
fn a_type_that_is_not_a_text_is_one_that_nobody_declares() {
    let tenant = drive();
    tenant.rule("*", "document:show", "show", "allow");
    tenant.rule("viewer@resource", "document:show", "show", "deny");
    tenant.rule("editor@resource", "document:see", "see", "allow");
    change(&tenant, &["document:d1 editor user:bob"], &[]);
    for (kind, show, see) in [
        (json!("document"), "allow", "allow"),
        (json!(null), "allow", "allow"),
        (json!("nothing"), "deny", "deny"),
        (json!(1), "deny", "deny"),
        (json!(true), "deny", "deny"),
        (json!(["document"]), "deny", "deny"),
    ] {
        let resource = json!({"id": "d1", "type": kind});
        decides(&tenant, "ann", "show", resource.clone(), show);
        decides(&tenant, "bob", "see", resource, see);
    }
}

#[test]
fn an_explained_check_has_tuples_of_its_own_and_names_where_edges_come_from() {
    let tenant = drive();
    let sync = json!({"source": "hr-sync", "write": [tuple("group:eng member user:ann")]});
    tenant.manage(RELATIONS, &sync).is(200);
    let explain = |assumed: Value| {
        let mut body = body("ann", "edit", json!({"id": "d1"}));
        body["relations"] = assumed;
        tenant.manage("POST /api/v1/check?explain=true", &body)
    };
    let shared = json!([tuple("document:d1 editor group:eng#member")]);
    let reply = explain(shared.clone()).is(200).json();
    assert_eq!(reply["decision"], "allow");
    let path = &reply["explanation"]["attributes"][0]["path"];
    let sources = (&path[0]["source"], &path[1]["source"]);
    assert_eq!(sources, (&json!("request"), &json!("hr-sync")), "{reply}");
    assert_eq!(explain(json!([])).is(200).text_of("decision"), "deny");
    decides(&tenant, "ann", "edit", json!({"id": "d1"}), "deny");
    let refused = |assumed: &str| explain(json!([tuple(assumed)])).is(400).text;
    let nobody = refused("document:d1 owner user:ann");
    assert!(nobody.contains("/relations/0/relation"), "{nobody}");
    let group = refused("document:d1 editor group:eng");
    assert!(group.contains("a subject that `editor` of `document` stores"), "{group}");
    let mut plain = body("ann", "edit", json!({"id": "d1"}));
    plain["relations"] = shared.clone();
    tenant.check(&plain).is(403);
    let none = Tenant::new();
    let refused = none.manage("POST /api/v1/check?explain=true", &plain).is(400).text;
    assert!(refused.contains("no type has relations"), "{refused}");
}

#[test]
fn a_resolver_gets_the_relations_that_it_names() {
    let tenant = drive();
    let form = Form::new(&json!({"namespace": "related"}), &guest("related"));
    let resolver = tenant.upload(format!("POST {RESOLVERS}"), &form).is(201).id();
    let seen = json!({"type": "CONDITION", "attribute": "related.seen", "operator": "eq",
        "value": "relation.group:eng#member=true relation.viewer=true"});
    tenant.policy("seen", "document:seen", "allow", 1, &seen);
    change(&tenant, &["group:eng member user:ann", "document:d1 editor group:eng#member"], &[]);
    decides(&tenant, "ann", "seen", json!({"id": "d1"}), "allow");
    // An answer is kept by what the resolver saw.
    decides(&tenant, "bob", "seen", json!({"id": "d1"}), "deny");
    decides(&tenant, "ann", "seen", json!({"id": "d2"}), "deny");
    let tried = json!({"check": body("ann", "seen", json!({"id": "d1"}))});
    let tried = tenant.manage(format!("POST {RESOLVERS}/{resolver}/test"), &tried).is(200).json();
    assert_eq!(tried["values"]["seen"], seen["value"], "{tried}");
    change(&tenant, &[], &["document:d1 editor group:eng#member"]);
    decides(&tenant, "ann", "seen", json!({"id": "d1"}), "deny");
    change(&tenant, &["document:d1 editor user:ann"], &[]);
    let checks = [json!({"subject": "ann"}), json!({"subject": "bob"})];
    let batch = json!({"resource": "document:seen", "action": "seen", "checks": checks,
        "attributes": {"resource": {"id": "d1"}}});
    let token = tenant.token("gateway", &["service"]);
    let reply = tenant.send(&Request::new("POST /api/v1/checks").token(&token).json(&batch));
    let reply = reply.is(200).json();
    let decisions = [&reply["results"][0]["decision"], &reply["results"][1]["decision"]];
    assert_eq!(decisions, [&json!("allow"), &json!("deny")], "{reply}");
}

#[test]
fn a_check_with_the_revision_of_a_write_sees_it() {
    let tenant = drive();
    let token = tenant.token("gateway", &["service"]);
    let body = body("ann", "edit", json!({"id": "d1"}));
    let check = Request::new("POST /api/v1/check").token(&token).json(&body);
    for round in 0..3 {
        for (is_written, expected) in [(true, "allow"), (false, "deny")] {
            let tuples: &[&str] = &["document:d1 editor user:ann"];
            let written = match is_written {
                true => change(&tenant, tuples, &[]),
                false => change(&tenant, &[], tuples),
            };
            let revision = written.header("x-entities-revision").unwrap().to_owned();
            let reply = tenant.send(&check.clone().header("x-min-entities-revision", &revision));
            assert_eq!(reply.clone().is(200).text_of("decision"), expected, "round {round}");
            assert_eq!(reply.header("x-entities-revision"), Some(&*revision));
        }
    }
}

#[test]
fn permissions_and_cells_depend_on_relations_until_the_object_is_known() {
    let tenant = drive();
    change(&tenant, &["document:d1 editor user:ann", "group:staff member user:ann"], &[]);
    for verb in ["edit", "list", "read"] {
        tenant.resource(&format!("document:{verb}"));
    }
    let permissions = |subject: &str, resource: Value| {
        let body = json!({"subject": subject, "attributes": {"resource": resource}});
        let page = tenant.manage("POST /api/v1/permissions", &body).is(200).json();
        let one = |one: &Value| json!([one["action"], one["decision"], one["depends_on"]]);
        page["results"].as_array().expect("results").iter().map(one).collect::<Vec<_>>()
    };
    let open = |verb: &str, relation: &str| json!([verb, "depends", [relation]]);
    let edit = open("edit", "relation.editor");
    let read = open("read", "relation.read");
    let all = [edit.clone(), json!(["list", "allow", []]), read.clone()];
    assert_eq!(permissions("ann", json!({})), all);
    assert_eq!(permissions("bob", json!({})), [edit, json!(["list", "deny", []]), read]);
    let is = |decision: &str| ["edit", "list", "read"].map(|verb| json!([verb, decision, []]));
    assert_eq!(permissions("ann", json!({"id": "d1"})), is("allow"));
    assert_eq!(permissions("bob", json!({"id": "d1"})), is("deny"));

    let body = json!({
        "roles": ["nobody", "editor@resource", "group:staff#member", "read@resource"],
        "resources": ["document:edit", "document:list", "document:read"],
    });
    let matrix = tenant.manage("POST /api/v1/matrix", &body).is(200).json();
    let cells = matrix["cells"].as_array().expect("cells").iter();
    let shown = cells.map(|cell| {
        let role = cell["role"].as_str().expect("a role").split(['@', '#']).next();
        let condition = cell["condition"].as_str().unwrap_or_default();
        let by =
            cell["rule_id"].as_str().map(|id| if id.contains("default") { "" } else { "rule" });
        format!(
            "{} {} {condition}{}",
            role.unwrap(),
            cell["decision"].as_str().unwrap(),
            by.unwrap_or_default()
        )
    });
    let (editor, list, read) = (
        "relation.editor == true",
        r#"relation["group:staff#member"] == true"#,
        "relation.read == true",
    );
    let open = |role: &str, condition: &str| format!("{role} conditional {condition}");
    let expected = [
        open("nobody", editor),
        "editor allow rule".to_owned(),
        open("group:staff", editor),
        open("read", editor),
        open("nobody", list),
        open("editor", list),
        "group:staff allow rule".to_owned(),
        open("read", list),
        open("nobody", read),
        open("editor", read),
        open("group:staff", read),
        "read allow rule".to_owned(),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}
