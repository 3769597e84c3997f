//! The readers against the schemas: whatever a reader accepts the schema accepts, and whatever a reader refuses the
//! schema refuses too, unless [`NOT_EXPRESSIBLE`] says why it cannot.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_test_schemas::{JudgingSchema, mutations};
use serde_json::Value;

use super::SCHEMAS;
use super::not_expressible::{NOT_EXPRESSIBLE, is_not_expressible};
use crate::{Bundle, BundleError};

const TENANT: &str = "
tenant: acme
description: A tenant
users:
- {sub: ann, roles: [reader], description: A reader, claims: {mfa: true, level: 3}}
- {sub: bob, roles: []}
";
const RESOURCES: &str = "
- {name: 'wiki:read', displayName: Read, serviceName: wiki, defaultRoles: [reader, writer]}
- {name: 'wiki:write'}
";
const RULES: &str = "
- {sub: writer, dom: acme, obj: 'wiki:*', act: '*', effect: allow}
- {sub: '*', obj: 'wiki:write', act: write, effect: deny}
";
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
  expect: {decision: deny, rule: '*, acme, wiki:write, write'}
";
/// The files in the order of reading, each with every member.
const FILES: [(&str, &str); 6] = [
    ("tenant.yaml", TENANT),
    ("resolvers.yaml", RESOLVERS),
    ("resources.yaml", RESOURCES),
    ("rules.yaml", RULES),
    ("policies.yaml", POLICIES),
    ("cases.yaml", CASES),
];

/// Writes a tenant folder whose lists are empty, with a resolver beside it, and returns the folder.
fn write_empty_tenant(folder: &Path) -> PathBuf {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/resolvers");
    let module = folder.join("resolvers/hr-directory");
    let tenant = folder.join("acme");
    fs::create_dir_all(&module).expect("writable");
    fs::create_dir_all(&tenant).expect("writable");
    for file in ["manifest.json", "descriptor.json"] {
        fs::copy(samples.join("hr-directory").join(file), module.join(file)).expect("a copy");
    }
    for (file, _) in FILES {
        fs::write(tenant.join(file), "[]").expect("writable");
    }
    tenant
}

/// Returns what the readers say of the file, without the faults of other files.
fn fault_of_file(tenant: &Path, file: &str) -> Option<String> {
    match Bundle::read_folder(tenant) {
        Ok(_) => None,
        Err(BundleError::Invalid(lines)) => {
            lines.starts_with(&tenant.join(file).display().to_string()).then_some(lines)
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn readers_and_schemas_agree_about_every_changed_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let tenant = write_empty_tenant(folder.path());
    let mut verdicts = Verdicts::default();
    for (file, text) in FILES {
        let schema = SCHEMAS.into_iter().find(|schema| schema.file == file).expect("a schema");
        let judge = JudgingSchema::new(&schema.to_json());
        let whole: Value = serde_saphyr::from_str(text).expect("YAML");
        assert_eq!(judge.faults(&whole), [""; 0], "{file}");
        for document in mutations(&whole) {
            fs::write(tenant.join(file), document.to_string()).expect("writable");
            verdicts.compare(fault_of_file(&tenant, file), &document, &judge);
        }
        // The files that are read after this one may name what it has.
        fs::write(tenant.join(file), text).expect("writable");
    }
    Bundle::read_folder(&tenant).unwrap_or_else(|error| panic!("{error}"));
    let Verdicts { both_accept, both_refuse, reader_refuses } = verdicts;
    assert!(both_accept > 100 && both_refuse > 2_000, "{both_accept} {both_refuse}");
    assert!(reader_refuses * 5 < both_refuse, "{reader_refuses} of {both_refuse}");
}

/// The number of documents by the verdicts of reader and schema.
#[derive(Default)]
struct Verdicts {
    both_accept: usize,
    both_refuse: usize,
    reader_refuses: usize,
}

impl Verdicts {
    /// Compares what the reader says of `document` with what the schema says.
    fn compare(&mut self, fault: Option<String>, document: &Value, judge: &JudgingSchema) {
        match fault {
            None => {
                assert_eq!(judge.faults(document), [""; 0], "sound: {document}");
                self.both_accept += 1;
            }
            Some(_) if !judge.accepts(document) => self.both_refuse += 1,
            Some(fault) => {
                let reason = is_not_expressible(&fault);
                assert!(reason.is_some(), "the schema accepts {document}\n{fault}");
                self.reader_refuses += 1;
            }
        }
    }
}

#[test]
fn each_reason_is_about_one_kind_of_fault() {
    for (index, (part, reason)) in NOT_EXPRESSIBLE.iter().enumerate() {
        assert!(!part.is_empty() && !reason.is_empty());
        let earlier = NOT_EXPRESSIBLE.iter().take(index);
        assert!(earlier.clone().all(|(other, _)| !part.contains(other)), "{part} is there twice");
    }
}
