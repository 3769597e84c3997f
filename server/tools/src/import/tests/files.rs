//! The files that an import writes.

use super::super::files::yaml;
use super::super::model::Model;
use super::super::{lines, requests};
use super::support::*;

#[test]
fn the_yaml_is_read_back() {
    let model = with_roles(ALLOW_OVERRIDE, BY_ROLE);
    let policy = "p, 0042, wiki, read, allow\np, yes, data1, a#b, allow\np, \"a, \"\"b\"\"\", x:y, no, allow\n\
        p, ä, null, ~, allow\n";
    let converted = converted(&model, policy);
    assert_eq!(converted.faults, []);
    let text = yaml(&converted.rules).expect("YAML");
    let read: Vec<serde_json::Value> = serde_saphyr::from_str(&text).expect(&text);
    assert_eq!(serde_json::json!(read), serde_json::json!(converted.rules), "{text}");
    assert_eq!(read[2]["sub"], "a, \"b\"");
    assert!(read.iter().all(|rule| rule["act"].is_string()), "{text}");
}

#[test]
fn expected_decisions_are_compared() {
    let model = with_roles(ALLOW_AND_DENY, BY_ROLE);
    let converted = converted(
        &model,
        "p, staff, wiki, read, allow\np, bob, wiki, read, deny\ng, ann, staff\ng, bob, staff\n",
    );
    let model = Model::parse(&model).expect("a model");
    let differences = |text: &str| {
        let now = chrono::DateTime::UNIX_EPOCH;
        let (asked, faults) =
            requests::differences(&model, &converted, text, now).expect("records");
        (asked, faults.into_iter().map(|fault| (fault.line, fault.reason)).collect::<Vec<_>>())
    };
    assert_eq!(differences("# who\nann, wiki, read, true\nbob, wiki, read, false\n"), (2, vec![]));
    let fault = |line, reason: &str| (Some(line), reason.to_owned());
    assert_eq!(
        differences(
            "ann, wiki, read, false\nbob, wiki, read, true\nann, wiki, true\nann, wiki, read, yes\n"
        ),
        (
            4,
            vec![
                fault(1, "Casbin decides deny, Portcullis allow"),
                fault(2, "Casbin decides allow, Portcullis deny"),
                fault(3, "expected 3 values, then `true` or `false`"),
                fault(4, "expected `true` or `false` at the end, not `yes`"),
            ]
        )
    );
    assert_eq!(lines::read("").count(), 0);
}
