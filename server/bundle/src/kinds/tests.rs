//! The readers against the schemas: whatever a reader accepts the schema accepts, and whatever a reader refuses the
//! schema refuses too, unless [`NOT_EXPRESSIBLE`] says why it cannot.

pub(crate) mod not_expressible;

use std::fs;
use std::path::Path;

use portcullis_engine::fields::list;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Json, json};
use portcullis_model::folder_webhook::FolderWebhook;
use portcullis_model::input::Field;
use portcullis_model::resource::Registration;
use portcullis_model::rule::NewRule;
use portcullis_model::settings::TenantSettings;
use portcullis_test_schemas::{JudgingSchema, mutations};
use serde_json::Value;

use super::SCHEMAS;
use crate::cases::{Case, CaseNames};
use crate::resolvers::{SampleResolver, namespaces};
use crate::{named_conditions, policies, roles, types, users};
use not_expressible::{NOT_EXPRESSIBLE, is_not_expressible};

const TENANT: &str = "
tenant: acme
description: A tenant
users:
- {sub: ann, roles: [reader], description: A reader, claims: {mfa: true, level: 3}}
- {sub: bob, roles: []}
";
const TYPES: &str = "
- type: user
  about: Somebody who works here
  properties:
    mail: {type: text, about: Of the company, from: token}
    ip: {type: ip}
    ward: {type: text, from: directory}
    level: {type: number}
    mfa: {type: boolean, from: request}
- {type: wiki, properties: {tags: {type: list<text>}, numbers: {type: list<number>}, at: {type: datetime}}}
- {type: folder, relations: {parent: {from: '[folder]', request: parent}, viewer: '[user] || parent.viewer'}}
- {type: group, relations: {member: {from: '[user]', claim: groups, renamed_from: in}}}
- {type: team, relations: {member: {from: '[user]', claim: {name: teams, absent: nobody}}}}
- {type: context}
";
const RESOURCES: &str = "
- {name: 'wiki:read', displayName: Read, serviceName: wiki, defaultRoles: [reader, writer]}
- {name: 'wiki:write'}
";
const RULES: &str = "
- {sub: writer, dom: acme, obj: 'wiki:*', act: '*', effect: allow}
- {sub: '*', obj: 'wiki:write', act: write, effect: deny}
";
const ROLES: &str = "
- {name: lead, includes: [writer, reader]}
- {name: writer, includes: [reader]}
";
const CONDITIONS: &str = r#"
- {name: on_team, about: An agent of the team, when: user.team == resource.team}
- name: senior
  when:
    type: AND
    children:
    - {type: NAMED, name: on_team}
    - {type: NOT, child: {type: NAMED, name: on_team}}
"#;
const POLICIES: &str = r#"
- name: tree
  description: Every kind of node
  resource: wiki:*
  effect: deny
  priority: 10
  enabled: true
  format: json
  rule_data:
    type: AND
    children:
    - {type: NOT, child: {type: CONDITION, attribute: user.mfa, operator: exists}}
    - type: OR
      children:
      - {type: CONDITION, attribute: resource.locked, operator: eq, value: true, if_missing: false}
      - {type: CONDITION, attribute: hr.department, operator: ne, value: {attribute: user.department}}
      - {type: CONDITION, attribute: user.level, operator: lte, value: 3}
      - {type: CONDITION, attribute: user.ward, operator: in, value: [er, icu]}
      - {type: CONDITION, attribute: user.mail, operator: ends_with, value: "@acme.example"}
      - {type: CONDITION, attribute: request.time, operator: before, value: "2030-01-01T00:00:00Z"}
      - {type: CONDITION, attribute: user.mail, operator: matches, value: "[a-z]+@.*"}
      - {type: CONDITION, attribute: user.ip, operator: ip_in, value: ["10.0.0.0/8"]}
      - {type: CONDITION, attribute: user.ip, operator: ip_in, value: "10.0.0.0/8"}
      - {type: CONDITION, attribute: request.time, operator: during,
         value: {days: [mon, tue], from: "08:00", to: "18:00", zone: Europe/Berlin}}
      - {type: CONDITION, attribute: request.time, operator: during, value: {zone: UTC}}
- {name: text, resource: "wiki:read", effect: allow, priority: -1, enabled: false, when: "user.a == 1"}
- {name: matcher, resource: "*", effect: deny, priority: 1, format: casbin, rule_data: {matcher: "r.sub.age < 18"}}
- {name: expression, resource: "*", effect: deny, priority: 1, format: expression,
   rule_data: {expression: "user.a == 1"}}
"#;
const RESOLVERS: &str = "
- module: hr-directory
  namespace: hr
  description: Who works where
  config: {region: eu}
  secrets: {hr_token: secret}
  endpoints:
    directory:
      url: https://hr.example.com/api/
      methods: [GET, POST]
      headers: {authorization: 'Bearer ${hr_token}'}
  allowed_hosts: [api.example.com]
  limits: {timeout_ms: 100, memory_mib: 16}
  cache_ttl_ms: 1000
  stale_if_error_ms: 1000
  responses: {directory: {GET people/ann: {status: 200, body: {department: sales}}}}
";
const CASES: &str = "
- name: a reader reads
  as: ann
  now: 2026-02-01T12:00:00Z
  check:
    subject: ann
    resource: wiki:read
    action: read
    domain: acme
    attributes: {user: {level: 3, tags: [a, b]}, resource: {locked: false, numbers: [1, 2.5]}}
  resolved: {hr: {department: sales, manager: null, clearance: 3, groups: [a]}}
  undetermined: allowed
  expect: {decision: allow, rule: 'reader, acme, wiki:read, read'}
- name: nobody else does
  check: {subject: bob, resource: wiki:write, action: write}
  responses: {hr: {directory: {GET people/bob: {status: 404}}}}
  relations: [{object: 'folder:f1', relation: viewer, subject: 'user:bob'}]
  expect: {decision: deny, rule: '*, acme, wiki:write, write'}
";
const WEBHOOKS: &str = "
- {url: 'https://a.example/x', events: [access.denied, policy.rbac.changed], secret: '${env:HOOK_SECRET}'}
";
const SETTINGS: &str = "
gates: {cases: true, approval: false, shadow_time: 24h, shadow_flips: 0}
max_deletes: 20
owners: {'git:acme': {keys: [019e301f-05c0-7a4e-9c1b-5f0e8d3a7b64]}}
decision_log: {mode: durable, allows: 0.25, keep: 36h, full: answer, attributes: {user.pin: hash}}
";
/// The files, each with every member.
pub(crate) const FILES: [(&str, &str); 11] = [
    ("tenant.yaml", TENANT),
    ("types.yaml", TYPES),
    ("resources.yaml", RESOURCES),
    ("rules.yaml", RULES),
    ("roles.yaml", ROLES),
    ("conditions.yaml", CONDITIONS),
    ("policies.yaml", POLICIES),
    ("resolvers.yaml", RESOLVERS),
    ("cases.yaml", CASES),
    ("webhooks.yaml", WEBHOOKS),
    ("settings.yaml", SETTINGS),
];

/// Reads a list of resolvers, whose modules are the samples of the repository.
fn resolvers(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<SampleResolver>> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies");
    let text = |file: &str| fs::read_to_string(samples.join(file));
    list(|json, at: &Place<'_>, problems: &mut Problems| {
        SampleResolver::read(json, at, problems, |module| format!("resolvers/{module}"), text)
    })(json, at, problems)
}

/// Reads `document` as the content of the file, with `known` as the resolvers of the tenant.
fn read(file: &str, document: &Value, known: &[SampleResolver]) -> Result<(), Invalid> {
    let text = document.to_string();
    let json = json::parse(text.as_bytes()).expect("JSON");
    let (at, mut problems) = (&Place::root(), Problems::default());
    let names = CaseNames { users: &["ann", "bob"], resolvers: Some(known), deciders: None };
    let sound = match file {
        "tenant.yaml" => users::read(&json, at, &mut problems).map(drop),
        "types.yaml" => types::read(&json, at, &mut problems).map(drop),
        "resources.yaml" => list(Registration::read)(&json, at, &mut problems).map(drop),
        "rules.yaml" => list(|json, at: &Place<'_>, problems: &mut Problems| {
            NewRule::field("acme").read(json, at, problems)
        })(&json, at, &mut problems)
        .map(drop),
        "roles.yaml" => roles::read(&json, at, &mut problems).map(drop),
        "conditions.yaml" => named_conditions::read(&json, at, &mut problems).map(drop),
        "policies.yaml" => policies::read(&json, at, &mut problems, &namespaces(known)).map(drop),
        "resolvers.yaml" => resolvers(&json, at, &mut problems).map(drop),
        "cases.yaml" => list(|json, at: &Place<'_>, problems: &mut Problems| {
            Case::read(json, at, problems, names)
        })(&json, at, &mut problems)
        .map(drop),
        "webhooks.yaml" => list(FolderWebhook::read)(&json, at, &mut problems).map(drop),
        "settings.yaml" => TenantSettings::read(&json, at, &mut problems).map(drop),
        _ => panic!("no reader of {file}"),
    };
    problems.finish(sound)
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).expect("YAML")
}

/// The number of changed documents by the verdicts of reader and schema.
#[derive(Debug, Default)]
struct Verdicts {
    both_accept: usize,
    both_refuse: usize,
    /// Refused by the reader alone, for a reason that is known.
    not_expressible: usize,
    /// Documents about which the two differ, with the fault that one of them finds.
    wrong: Vec<String>,
}

impl Verdicts {
    /// Compares reader and schema on the file and its changes.
    fn new(file: &str, schema: &Value) -> Self {
        let text = yaml(RESOLVERS).to_string();
        let json = json::parse(text.as_bytes()).expect("JSON");
        let known = resolvers(&json, &Place::root(), &mut Problems::default()).expect("sound");
        let judge = JudgingSchema::new(schema);
        let (_, whole) = FILES.into_iter().find(|(known, _)| *known == file).expect("a file");
        let whole = yaml(whole);
        read(file, &whole, &known).expect("sound");
        let mut verdicts = Self::default();
        for document in mutations(&whole).iter().chain([&whole]) {
            verdicts.count(read(file, document, &known), document, &judge);
        }
        verdicts
    }

    fn count(&mut self, read: Result<(), Invalid>, document: &Value, judge: &JudgingSchema) {
        match (read, judge.accepts(document)) {
            (Ok(()), true) => self.both_accept += 1,
            (Err(_), false) => self.both_refuse += 1,
            (Ok(()), false) => {
                let faults = judge.faults(document);
                self.wrong.push(format!("sound, but the schema finds {faults:?}: {document}"));
            }
            (Err(fault), true) if is_not_expressible(&fault.to_string()) => {
                self.not_expressible += 1;
            }
            (Err(fault), true) => self.wrong.push(format!("{fault}: {document}")),
        }
    }
}

#[test]
fn readers_and_schemas_agree_about_every_changed_file() {
    for schema in SCHEMAS {
        let verdicts = Verdicts::new(schema.file, &schema.to_json());
        let Verdicts { both_accept, both_refuse, not_expressible, wrong } = &verdicts;
        assert_eq!(*wrong, [""; 0], "{}", schema.file);
        let counts = format!("{}: {verdicts:?}", schema.file);
        assert!(*both_accept > 5 && *both_refuse > 50, "{counts}");
        assert!(not_expressible * 3 < *both_refuse, "{counts}");
    }
}

#[test]
fn a_keyword_that_is_lost_or_too_strict_is_noticed() {
    let schema = SCHEMAS.into_iter().find(|schema| schema.kind == "rules").expect("a schema");
    let whole = schema.to_json();
    assert_eq!(Verdicts::new(schema.file, &whole).wrong, [""; 0]);
    for (pointer, keyword) in [
        ("", "type"),
        ("", "items"),
        ("/$defs/Rule", "type"),
        ("/$defs/Rule", "required"),
        ("/$defs/Rule", "additionalProperties"),
        ("/$defs/Rule/properties/effect", "enum"),
        ("/$defs/Rule/properties/sub", "pattern"),
        ("/$defs/Rule/properties/sub", "maxLength"),
        ("/$defs/Rule/properties/obj", "pattern"),
        ("/$defs/Rule/properties/act", "type"),
    ] {
        let mut without = whole.clone();
        let place = without.pointer_mut(pointer).and_then(Value::as_object_mut);
        place.expect("an object").shift_remove(keyword).expect("the keyword");
        let wrong = Verdicts::new(schema.file, &without).wrong;
        assert!(!wrong.is_empty(), "nothing notices that `{pointer}` has no `{keyword}`");
    }
    let mut strict = whole;
    strict["$defs"]["Rule"]["properties"]["sub"]["maxLength"] = 5.into();
    assert!(!Verdicts::new(schema.file, &strict).wrong.is_empty());
}

#[test]
fn each_reason_is_about_one_kind_of_fault() {
    for (index, (part, reason)) in NOT_EXPRESSIBLE.iter().enumerate() {
        assert!(!part.is_empty() && !reason.is_empty());
        let mut earlier = NOT_EXPRESSIBLE.iter().take(index);
        assert!(earlier.all(|(other, _)| !part.contains(other)), "{part} is there twice");
    }
}
