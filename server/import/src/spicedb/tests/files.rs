//! A validation file of each part: an import asks every question of it.

use super::*;

const DRIVE: &str = include_str!("drive.yaml");

#[test]
fn a_validation_file_answers_as_it_expects() {
    let found = imported(DRIVE).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!(found.content.summary(), "3 types, 14 rules, 16 relations, 35 cases");
    assert_eq!(found.asked, 35);
    assert_eq!(
        found.notes,
        [
            "75: left out: a check always has its time, so that no caveat stays open",
            "72: left out: nobody can have `archive` of `document`",
            "73: left out: a check asks about one subject, not about `group:staff#member`",
            "80: left out: a check asks about one subject, not about `group:board#member`",
            "84: left out: a check asks about one subject, not about `user:*`",
        ]
    );
    // Every answer that is turned round is a difference.
    let turned = DRIVE.replace("assertTrue:", "x:").replace("assertFalse:", "assertTrue:");
    let turned = turned.replace("  x:", "  assertFalse:");
    let faults = imported(&turned).expect_err("the archive is nobody's");
    assert_eq!(faults, ["72: nobody can have `archive` of `document`"]);
    let faults = imported(&turned.replace("    - document:q3#archive@user:anne\n", ""));
    assert_eq!(faults.expect_err("every answer differs").len(), 13);
}

#[test]
fn permissions_become_lines() {
    let found = imported(DRIVE).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let types = found.content.types.iter().flat_map(|one| {
        let relations = one["relations"].as_object().into_iter().flatten();
        let lines = relations.map(|(name, line)| format!("  {name}: {}", line.as_str().unwrap()));
        [one["type"].as_str().unwrap().to_owned()].into_iter().chain(lines).collect::<Vec<_>>()
    });
    assert_eq!(
        types.collect::<Vec<_>>().join("\n"),
        "group
  member: [user, group#member]
folder
  parent: [folder]
  owner: [user]
  banned: [user]
  viewer: [user, user:*, group#member]
  blocked: banned || parent.blocked
  view: (viewer || owner || parent.view) && !blocked
document
  parent: [folder]
  editor: [user, group#member]
  reviewer: [user]
  edit: editor || parent.owner
  view: edit || parent.view
  approve: edit && reviewer && !parent.blocked
  publish: edit && !reviewer && view"
    );
    let ends = found
        .content
        .tuples
        .iter()
        .filter_map(|one| Some(format!("{} {}", one.subject, one.expires_at?.format("%F"))));
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [
            "user:guest 2030-01-01",
            "user:late 1969-12-31",
            "user:dora 2026-01-31",
            "user:emil 2026-01-15"
        ]
    );
}
