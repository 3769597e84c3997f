//! The content of a tenant folder, and the messages for one that is not valid.

use std::fs;
use std::path::Path;

use chrono::DateTime;
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, DEFAULT_DENY, Effect, Json, KnownEntities, OpenQuestion,
    Verdict,
};
use portcullis_test_tenants::{RULES, edit, without_positions, write_tenant};
use uuid::Uuid;

use super::embedded::EMBEDDED;
use super::kinds::tests::not_expressible::is_refused_by_its_schema;
use super::kinds::{CASES, POLICIES, RULES as RULE_FILES};
use super::{Bundle, Case, SampleUser, TENANT_FILE};

pub(super) const CASES_FILE: &str = CASES.file();
pub(super) const POLICIES_FILE: &str = POLICIES.file();
pub(super) const RULES_FILE: &str = RULE_FILES.file();

/// The message about the small tenant after one edit, without the folder's name.
fn refusal(file: &str, from: &str, to: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    edit(folder.path(), file, from, to);
    let error = Bundle::read_folder(folder.path()).expect_err("the folder must be refused");
    is_refused_by_its_schema(&folder.path().join(file), &error.to_string());
    without_positions(&error.to_string()).replace(&format!("{}/", folder.path().display()), "")
}

#[track_caller]
fn refused(file: &str, from: &str, to: &str, expected: &str) {
    assert_eq!(refusal(file, from, to), format!("{file}: {expected}"));
}

/// Three platforms to copy, and the scenario of a standard: `portcullis dev policies/todo` serves it.
const APART: [&str; 4] = ["drive", "helpdesk", "projects", "todo"];

#[test]
fn every_tenant_of_the_repository_is_embedded() {
    let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies");
    let folders =
        fs::read_dir(policies).expect("readable").map(|entry| entry.expect("readable").path());
    let tenants = folders.filter(|folder| folder.join(TENANT_FILE).is_file());
    let mut tenants: Vec<_> =
        tenants.filter_map(|folder| folder.file_name().map(ToOwned::to_owned)).collect();
    tenants.retain(|name| !APART.iter().any(|apart| name == apart));
    tenants.sort_unstable();
    assert_eq!(tenants, EMBEDDED.each_ref().map(|(name, _)| *name));
}

#[test]
fn a_sound_folder_is_read_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    assert_eq!((&*bundle.tenant, bundle.description.as_deref()), ("acme", None));
    let ann = bundle.user("ann").expect("a user");
    assert_eq!(
        ann.claims.to_string(),
        r#"{"sub":"ann","dom":"acme","realm_access":{"roles":["reader"]},"mfa":true}"#
    );
    assert_eq!(bundle.rules[0].tuple.dom, "acme");
    assert_eq!(bundle.policies[1].name, "off");
    assert_eq!(bundle.cases[0].caller.as_deref(), Some("ann"));
    assert_eq!(
        bundle.cases[0].check.to_string(),
        r#"{"subject":"ann","resource":"wiki:read","action":"read"}"#
    );
    assert!(bundle.cases[0].now.is_none() && bundle.cases[1].now.is_some());
    let demos: Vec<_> = bundle.demos().map(|case| &*case.name).collect();
    assert_eq!(demos, ["demo: nobody reads what is locked"]);
}

#[test]
fn a_user_may_have_no_roles() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    edit(folder.path(), TENANT_FILE, "[reader]", "[]");
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let ann = bundle.user("ann").expect("a user");
    let claims = r#"{"sub":"ann","dom":"acme","realm_access":{"roles":[]},"mfa":true}"#;
    assert_eq!(ann.claims.to_string(), claims);
}

#[test]
fn a_default_role_makes_a_rule_unless_its_tuple_has_one() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let named: Vec<_> = bundle.rulebook.named().map(|(id, name)| (id.as_u128(), name)).collect();
    let expected = [
        (1, "locked"), // `off` is not enabled
        (2, "writer, acme, wiki:read, read"),
        (3, "reader, acme, wiki:read, read"),
        (4, "guest, acme, wiki:read, read"),
    ];
    assert_eq!(named, expected.map(|(id, name)| (id, name.to_owned())));
    let effects: Vec<_> = bundle.rulebook.rules().iter().map(|rule| rule.effect).collect();
    assert_eq!(effects, [Effect::Deny, Effect::Allow, Effect::Allow]);
    assert_eq!(bundle.rulebook.name(Some(Uuid::from_u128(3))), "reader, acme, wiki:read, read");
    assert_eq!(bundle.rulebook.name(None), DEFAULT_DENY);
}

#[test]
fn a_missing_file_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    fs::remove_file(folder.path().join(RULES_FILE)).expect("removable");
    let error = Bundle::read_folder(folder.path()).expect_err("incomplete").to_string();
    assert!(error.contains("/rules.yaml: cannot be read: No such file"), "{error}");
}

#[test]
fn invalid_yaml_is_named_with_its_position() {
    for (from, to, expected) in [
        ("effect: deny}", "effect: deny", "unclosed bracket '{'"),
        ("effect: deny}", "effect: deny, sub: x}", "duplicate mapping key: sub not allowed here"),
        ("writer", "!role writer", "unsupported tag `!role`; quote a text that begins with `!`"),
        ("writer", "*writer", "reference to unknown value; quote a text that begins with `*`"),
    ] {
        refused(RULES_FILE, from, to, &format!("not valid YAML: {expected}"));
    }
}

#[test]
fn the_deepest_tree_is_read_and_what_is_deeper_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let leaf = "{type: CONDITION, attribute: request.subject, operator: in, value: [x]}";
    let (open, close) = ("{type: AND, children: [".repeat(31), "]}".repeat(31));
    let tree = format!("{open}{leaf}{close}");
    let shallow = "{type: CONDITION, attribute: request.subject, operator: exists}";
    edit(folder.path(), POLICIES_FILE, shallow, &tree);
    Bundle::read_folder(folder.path()).expect("32 nodes deep");
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert!(refusal(RULES_FILE, RULES, &deep).contains("limits breached: Depth"));
}

#[test]
fn a_fault_of_content_is_named_by_its_place() {
    refused(TENANT_FILE, "acme", "'*'", "at `/tenant`: expected a tenant's id, not `*`");
    refused(
        TENANT_FILE,
        "{mfa: true}",
        "{iss: me}",
        "at `/users/0/claims/iss`: expected a further claim, not one that every token has",
    );
    refused(
        RULES_FILE,
        "effect",
        "efect",
        "at `/0`: field `effect` is missing\nrules.yaml: at `/0`: field `efect` is unknown; did you mean `effect`?",
    );
    refused(
        RULES_FILE,
        "writer",
        "writ*",
        "at `/0/sub`: expected 1 to 256 characters without `*`, or `*` alone",
    );
    refused(
        RULES_FILE,
        RULES,
        "# nothing",
        "expected an array, not null; write `[]` if there are none",
    );
    refused(
        CASES_FILE,
        "action: read",
        "action: 7",
        "at `/0/check/action`: expected a string, not a number",
    );
    refused(
        CASES_FILE,
        "2026-02-01",
        "2026-02-31",
        "at `/1/now`: expected an RFC 3339 date-time such as `2026-11-20T09:00:00Z`",
    );
    let operator = refusal(POLICIES_FILE, "operator: eq", "operator: equals");
    let expected = "policies.yaml: at `/0/rule_data/operator`: expected `eq`, `ne`, ";
    assert!(operator.starts_with(expected), "{operator}");
}

#[test]
fn names_are_unique_where_something_refers_to_them() {
    refused(
        POLICIES_FILE,
        "name: off",
        "name: locked",
        "at `/1`: expected a unique `name`, but an earlier item also has `locked`",
    );
    refused(
        POLICIES_FILE,
        "name: off",
        "name: default-deny",
        "at `/1/name`: expected a name other than `default-deny`, which says that nothing matched",
    );
    let twice = format!("{RULES}{}", RULES.replace("deny", "allow"));
    refused(
        RULES_FILE,
        RULES,
        &twice,
        "at `/1`: expected a unique tuple, but an earlier item also has `writer, acme, wiki:read, read`",
    );
    refused(
        CASES_FILE,
        "'demo: nobody reads what is locked'",
        "a reader reads",
        "at `/1`: expected a unique `name`, but an earlier item also has `a reader reads`",
    );
}

#[test]
fn a_case_mentions_only_what_exists() {
    refused(
        CASES_FILE,
        "as: ann",
        "as: anne",
        "at `/0/as`: expected the `sub` of a user of tenant.yaml, not `anne`",
    );
    refused(
        CASES_FILE,
        "rule: locked",
        "rule: looked",
        "at `/1/expect/rule`: expected the name of a policy, a rule written `sub, dom, obj, act`, or \
             `default-deny`, not `looked`",
    );
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    for sound in ["off", "default-deny", "guest, acme, wiki:read, read"] {
        edit(folder.path(), CASES_FILE, "rule: locked", &format!("rule: '{sound}'"));
        Bundle::read_folder(folder.path()).expect("it exists");
        edit(folder.path(), CASES_FILE, &format!("rule: '{sound}'"), "rule: locked");
    }
}

/// Whether an attribute of a resolver can change the decision of a case.
fn takes_a_resolver(bundle: &Bundle, case: &Case) -> bool {
    let body = CheckBody::parse(&case.check).expect("sound");
    let caller = case.caller.as_deref().and_then(|sub| bundle.user(sub)).map(SampleUser::caller);
    let check = Check::new(body, &bundle.tenant, caller, DateTime::UNIX_EPOCH);
    let plan = bundle.rulebook.plan(body.resource);
    let verdict = plan.decide(&check, &AttributeAnswers::default());
    matches!(verdict, Verdict::NeedsAttributes(_))
}

#[test]
fn the_samples_are_sound_and_have_four_demos_each() {
    let bundles = Bundle::embedded().expect("sound");
    let tenants: Vec<_> = bundles.iter().map(|bundle| &*bundle.tenant).collect();
    assert_eq!(tenants, ["hospital", "software-shop"]);
    for bundle in &bundles {
        assert_eq!(bundle.warnings, [""; 0], "{}", bundle.tenant);
        assert!(bundle.users.iter().any(|user| user.roles.iter().any(|role| role == "admin")));
        let demos: Vec<_> = bundle.demos().collect();
        let by_rule =
            |case: &Case| case.expected.rule.as_ref().is_some_and(|rule| rule.contains(", "));
        assert_eq!(demos.len(), 4, "{}", bundle.tenant);
        assert_eq!(demos[0].expected.decision, Effect::Allow);
        assert!(demos[1].expected.decision == Effect::Deny && by_rule(demos[1]));
        assert!(demos[2].expected.decision == Effect::Deny && !by_rule(demos[2]));
        assert!(takes_a_resolver(bundle, demos[3]), "{}", demos[3].name);
        for demo in demos {
            let subject = demo.check.get("subject").and_then(Json::as_str);
            assert_eq!(demo.caller.as_deref(), subject, "{}", demo.name);
            assert!(demo.now.is_none(), "{}", demo.name);
        }
    }
}

#[test]
fn a_sample_case_without_an_instant_does_not_depend_on_it() {
    let instants = ["1990-01-01T00:00:00Z", "2026-12-24T22:00:00Z", "2050-06-01T12:00:00Z"];
    for bundle in Bundle::embedded().expect("sound") {
        let timeless = bundle.cases.iter().filter(|case| case.now.is_none());
        for case in timeless.filter(|case| !takes_a_resolver(&bundle, case)) {
            let body = CheckBody::parse(&case.check).expect("sound");
            let plan = bundle.rulebook.plan(body.resource);
            let user = case.caller.as_deref().and_then(|sub| bundle.user(sub));
            for now in instants {
                let now = now.parse().expect("an instant");
                let caller = user.map(SampleUser::caller);
                let sent = Check::new(body, &bundle.tenant, caller, now);
                let decision =
                    OpenQuestion::combined(&plan, &KnownEntities::default(), sent).settle();
                let decider = bundle.rulebook.name(decision.rule_id());
                assert_eq!(Some(decider), case.expected.rule, "{} at {now}", case.name);
            }
        }
    }
}

#[test]
fn the_samples_show_every_operator_and_every_node() {
    let mut bundles = Bundle::embedded().expect("sound");
    let projects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/projects");
    bundles.push(Bundle::read_folder(&projects).expect("sound"));
    let policies = bundles.iter().flat_map(|bundle| &bundle.policies);
    let trees = policies.filter_map(|policy| policy.rule_data.condition.to_json());
    let trees: String = trees.map(|tree| tree.to_string()).collect();
    for operator in portcullis_engine::operator::names() {
        assert!(trees.contains(&format!(r#""operator":"{operator}""#)), "{operator}");
    }
    for node in ["AND", "OR", "NOT", "CONDITION"] {
        assert!(trees.contains(&format!(r#""type":"{node}""#)), "{node}");
    }
    for value in [r#""if_missing":true"#, r#""if_missing":false"#, r#""value":{"attribute":"#] {
        assert!(trees.contains(value), "{value}");
    }
}

pub(super) const TREE: &str = "rule_data: {type: CONDITION, attribute: resource.locked, operator: eq, value: true, if_missing: false}";

#[test]
fn a_condition_may_be_an_expression() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let tree = Bundle::read_folder(folder.path()).expect("sound");
    edit(folder.path(), POLICIES_FILE, TREE, "when: (resource.locked == true) ?? false");
    let text = Bundle::read_folder(folder.path()).expect("sound");
    let [tree, text] = [&tree, &text].map(|bundle| &bundle.policies[0].rule_data);
    assert_eq!(tree.condition, text.condition);
    assert_eq!(text.format, portcullis_engine::Format::Expression);
    assert_eq!(text.json.text(), r#"{"expression":"(resource.locked == true) ?? false"}"#);
}

#[test]
fn a_fault_of_an_expression_is_named_by_its_token() {
    for (with, expected) in [
        (
            "when: resource.locked ==",
            "at `/0/when`: expected a string, a number, `true`, `false` or an attribute, where the text ends at position 18, near `resource.locked ==`",
        ),
        (
            "when: exists(resource.locked) && user.a == 1 user.b == 1 || exists(user.department)",
            "at `/0/when`: expected `&&`, `||` or the end of the expression, not `user.b` at position 39, near `…ked) && user.a == 1 user.b == 1 || exist…`",
        ),
        (
            "wehn: exists(user.a)",
            "at `/0`: expected a condition: field `when` or `rule_data` is missing\n\
             policies.yaml: at `/0`: field `wehn` is unknown; did you mean `when`?",
        ),
        ("when: 1", "at `/0/when`: expected a string, not a number"),
        (
            "when: geo.country == 'DE'",
            "at `/0/when`: expected an attribute of `user`, `resource`, `action`, `context`, `request` or `token`; there is no resolver `geo`, not `geo.country` at position 0, near `geo.country == 'DE'`",
        ),
        (
            "when: exists(user.a)\n  format: json",
            "at `/0`: expected either `when`, or `rule_data` with its `format`",
        ),
    ] {
        refused(POLICIES_FILE, TREE, with, expected);
    }
}
