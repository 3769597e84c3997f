//! The reports of two folders in each format, and their exit codes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use portcullis_model::apply::{ImpactReport, SkippedCase};
use portcullis_test_tenants::{edit, write_tenant};

use super::{CaseChanges, DiffArguments, MatrixArguments, MatrixDiff, diff, run};

#[derive(Parser)]
struct Matrix {
    #[command(flatten)]
    arguments: MatrixArguments,
}

#[derive(Parser)]
struct Diff {
    #[command(flatten)]
    arguments: DiffArguments,
}

/// Makes two equal folders.
fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let directory = tempfile::tempdir().expect("a folder");
    let [before, after] = ["before", "after"].map(|name| directory.path().join(name));
    write_tenant(&before);
    write_tenant(&after);
    (directory, before, after)
}

/// Runs `matrix` with these arguments. Returns the exit code and the output, or the error.
fn matrix(folders: &[&Path], flags: &[&str]) -> Result<(ExitCode, String), String> {
    let folders = folders.iter().map(|folder| folder.display().to_string());
    let arguments = ["matrix".to_owned()].into_iter().chain(folders);
    let arguments = arguments.chain(flags.iter().map(|flag| (*flag).to_owned()));
    let parsed = Matrix::try_parse_from(arguments).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    let code = run(&parsed.arguments, &mut out).map_err(|error| format!("{error:#}"))?;
    Ok((code, String::from_utf8(out).expect("text")))
}

/// Runs `diff`. Returns the output of a difference, or of none.
fn difference(before: &Path, after: &Path, format: &str) -> Result<String, String> {
    let [before, after] = [before, after].map(|folder| folder.display().to_string());
    let arguments = ["diff", &before, &after, "--format", format];
    let parsed = Diff::try_parse_from(arguments).expect("arguments");
    let mut out = Vec::new();
    let code = diff(&parsed.arguments, &mut out).map_err(|error| format!("{error:#}"))?;
    let text = String::from_utf8(out).expect("text");
    let is_different = format!("{code:?}") == format!("{:?}", ExitCode::from(2));
    assert_eq!(is_different, text != NO_CHANGE, "{code:?}: {text}");
    Ok(text)
}

const NO_CHANGE: &str = "no decision changes\n";

#[test]
fn a_table_says_who_has_what() {
    let (_directory, folder, _) = folders();
    let condition = "unless (resource.locked == true) ?? false";
    let expected = format!(
        "guest has wiki:read in acme\nreader has wiki:read in acme\nnote: each line: {condition}\n"
    );
    let (code, text) = matrix(&[&folder], &[]).expect("a table");
    assert_eq!((format!("{code:?}"), text), (format!("{:?}", ExitCode::SUCCESS), expected));
    let (_, text) = matrix(&[&folder], &["--role", "guest", "--resource", "wiki:*"]).expect("one");
    assert_eq!(text, format!("guest has wiki:read in acme {condition}\n"));
    let (_, text) = matrix(&[&folder], &["--role", "clerk"]).expect("none");
    assert_eq!(text, "everything is denied\n");
    let (_, text) = matrix(&[&folder], &["--role", "guest", "--format", "json"]).expect("JSON");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let expected = serde_json::json!({"actions": "named", "complete": true, "note": null, "cells": [{
        "role": "guest", "domain": "acme", "resource": "wiki:read", "action": "read",
        "decision": "depends", "condition": condition, "policies": ["locked"], "more_policies": 0,
    }]});
    assert_eq!(json, expected);
    let (_, text) =
        matrix(&[&folder], &["--role", "guest", "--format", "markdown"]).expect("a table");
    let expected = format!(
        "### Portcullis: decisions\n\n<details><summary>Decisions (1)</summary>\n\n\
         ```diff\n  guest has wiki:read in acme {condition}\n```\n\n</details>\n"
    );
    assert_eq!(text, expected);
}

/// Each resource has 101 roles, 101 domains and 3 actions, so that four do not fit.
#[test]
fn a_table_that_is_not_complete_says_so_and_fails() {
    let (_directory, folder, _) = folders();
    let rule = |number: usize| {
        format!("- {{sub: s{number}, dom: d{number}, obj: '*', act: go, effect: allow}}\n")
    };
    std::fs::write(folder.join("rules.yaml"), (0..100).map(rule).collect::<String>())
        .expect("writable");
    std::fs::write(folder.join("cases.yaml"), "[]\n").expect("writable");
    let resources = |count: usize| {
        let lines = (0..count).map(|number| format!("- {{name: 'doc:r{number}'}}\n"));
        std::fs::write(folder.join("resources.yaml"), lines.collect::<String>()).expect("writable");
    };
    let code = |code: ExitCode| format!("{code:?}");
    resources(1);
    let (complete, text) = matrix(&[&folder], &[]).expect("a table");
    assert_eq!(code(complete), code(ExitCode::SUCCESS), "{text}");
    resources(5);
    let (cut, text) = matrix(&[&folder], &[]).expect("a table");
    assert_eq!(code(cut), code(ExitCode::FAILURE), "{text}");
    assert!(text.contains("note: ") && text.contains("are left out"), "{text}");
}

#[test]
fn wrong_arguments_are_named() {
    let (directory, folder, other) = folders();
    let error = matrix(&[&folder], &["--resource", "wiki"]).expect_err("no pattern");
    assert!(error.contains("expected a resource such as `chart:read`"), "{error}");
    let error = matrix(&[&folder, &other], &["--role", "guest"]).expect_err("two folders");
    assert!(error.contains("cannot be used with"), "{error}");
    let error = matrix(&[directory.path()], &[]).expect_err("no tenant folder");
    assert!(error.contains("tenant.yaml"), "{error}");
}

#[test]
fn a_folder_that_decides_the_same_is_no_difference() {
    let (_directory, before, after) = folders();
    assert_eq!(difference(&before, &after, "text").as_deref(), Ok(NO_CHANGE));
    edit(&after, "policies.yaml", "name: locked", "name: closed");
    edit(&after, "cases.yaml", "rule: locked", "rule: closed");
    // A disabled policy does not decide.
    edit(&after, "policies.yaml", "priority: 20", "priority: 21");
    assert_eq!(difference(&before, &after, "text").as_deref(), Ok(NO_CHANGE));
}

#[test]
fn a_difference_says_who_gains_and_loses_what() {
    let (_directory, before, after) = folders();
    edit(&after, "rules.yaml", "effect: deny", "effect: allow");
    edit(&after, "policies.yaml", "priority: 10", "priority: 10\n  enabled: false");
    edit(
        &after,
        "cases.yaml",
        "decision: deny, rule: locked",
        "decision: deny, rule: default-deny",
    );
    edit(&after, "resources.yaml", "reader, writer, guest", "writer, guest");
    edit(
        &after,
        "cases.yaml",
        "decision: allow, rule: 'reader, acme, wiki:read, read'",
        "decision: deny, rule: default-deny",
    );
    let condition = "unless (resource.locked == true) ?? false";
    let text = difference(&before, &after, "text").expect("a difference");
    let expected = format!(
        "guest has wiki:read in acme without a condition (before: {condition})\n\
         reader loses wiki:read in acme (before: {condition})\n\
         writer gains wiki:read in acme\n\
         case `a reader reads`: deny by `default-deny`, was allow by `reader, acme, wiki:read, read`\n"
    );
    assert_eq!(text, expected);
    let (_, same) = matrix(&[&before, &after], &[]).expect("the same as `diff`");
    assert_eq!(same, expected);
    let json = difference(&before, &after, "json").expect("JSON");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        json["changes"][2],
        serde_json::json!({
            "role": "writer", "domain": "acme", "resource": "wiki:read", "action": "read",
            "before": {"decision": "deny"}, "after": {"decision": "allow"},
        })
    );
    assert_eq!(json["cases"]["changed"][0]["after"]["decision"], "deny", "{json}");
    let markdown = difference(&before, &after, "markdown").expect("a comment");
    for part in
        ["<details><summary>Decisions that change (3)</summary>", "Cases (1)", "  writer gains"]
    {
        assert!(markdown.contains(part), "{part}: {markdown}");
    }
}

/// Returns the changes if the policies of the second folder are these, and the others are none.
fn change_of_policies(before: &str, after: &str) -> String {
    let (_directory, first, second) = folders();
    for (folder, policies) in [(&first, before), (&second, after)] {
        std::fs::write(folder.join("policies.yaml"), policies).expect("writable");
        std::fs::write(folder.join("cases.yaml"), "[]\n").expect("writable");
    }
    difference(&first, &second, "text").expect("a difference")
}

#[test]
fn a_condition_is_shown_where_it_changes() {
    let policy = |limit| {
        format!(
            "- {{name: clerks, resource: bill:pay, effect: allow, priority: 1, \
             when: 'request.roles contains \"clerk\" && user.on == true && resource.amount < {limit}'}}\n"
        )
    };
    let text = change_of_policies(&policy(100), &policy(200));
    let expected = "clerk has bill:pay by any action on another condition\n    \
                    - … resource.amount < 100\n    + … resource.amount < 200\n";
    assert_eq!(text, expected);
}

#[test]
fn a_deny_that_all_lines_share_is_a_note() {
    let deny = |when| {
        format!(
            "- {{name: locked, resource: 'wiki:*', effect: deny, priority: 9, when: '{when}'}}\n"
        )
    };
    let locked = "(resource.locked == true) ?? false";
    let added = change_of_policies("[]\n", &deny(locked));
    let expected = format!(
        "guest has wiki:read in acme (before: always)\nreader has wiki:read in acme (before: always)\n\
         note: new for each line: unless {locked}\n"
    );
    assert_eq!(added, expected);
    let gone = change_of_policies(&deny(locked), "[]\n");
    assert!(gone.ends_with(&format!("note: gone from each line: unless {locked}\n")), "{gone}");
    assert_eq!(gone.matches(locked).count(), 1, "{gone}");
    let other = change_of_policies(&deny(locked), &deny("(resource.closed == true) ?? false"));
    assert_eq!(other.lines().count(), 4, "{other}");
}

#[test]
fn relations_that_differ_are_named_with_their_definitions() {
    let (_directory, before, after) = folders();
    let types = |folder: &Path, relations: &str| {
        let text = format!("- {{type: wiki, relations: {{{relations}}}}}\n");
        std::fs::write(folder.join("types.yaml"), text).expect("writable");
    };
    types(&before, "owner: '[user]', viewer: '[user]', old: '[user]'");
    types(&after, "owner: '[user]', viewer: '[user] || owner', new: '[wiki]'");
    let text = difference(&before, &after, "text").expect("sound");
    for line in [
        "relation `new` of `wiki` is new: `[wiki]`",
        "relation `old` of `wiki` is gone: it was `[user]`",
        "relation `viewer` of `wiki`: `[user] || owner`, was `[user]`",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("`owner` of"), "{text}");
}

#[test]
fn a_case_that_is_not_compared_is_a_difference() {
    let complete = || ImpactReport { complete: true, ..ImpactReport::default() };
    let nothing =
        MatrixDiff { impact: complete(), cases: CaseChanges::default(), relations: vec![] };
    assert!(nothing.is_empty());
    let skipped = vec![SkippedCase { case: "abroad".to_owned(), reason: String::new() }];
    let cases = CaseChanges { skipped, ..CaseChanges::default() };
    assert!(!MatrixDiff { impact: complete(), cases, relations: vec![] }.is_empty());
}

/// A text of a folder changes neither a terminal nor a page.
#[test]
fn texts_of_folders_are_shown_on_one_line() {
    let (_directory, before, after) = folders();
    edit(&after, "rules.yaml", "sub: writer", r#""sub": "a|b`c\e[1m\n<i>""#);
    let text = difference(&before, &after, "text").expect("a difference");
    assert!(text.contains("writer gains") && !text.contains('\u{1b}'), "{text}");
    edit(&after, "rules.yaml", "effect: deny", "effect: allow");
    let markdown = difference(&before, &after, "markdown").expect("a comment");
    assert!(markdown.contains(r"  a|b`c\u{1b}[1m\n<i> gains"), "{markdown}");
}

#[test]
fn actions_that_nothing_about_a_resource_names_are_left_out_with_a_note() {
    let (_directory, before, after) = folders();
    // The first rule names an action for each verb of the name.
    let rules = "- {sub: clerk, obj: 'wiki:*', act: audit, effect: allow}\n\
                 - {sub: clerk, obj: wiki:read, act: print, effect: allow}\n";
    std::fs::write(after.join("rules.yaml"), rules).expect("writable");
    let all = "clerk has wiki:read by the action `audit` in acme";
    let named = "clerk has wiki:read by the action `print` in acme";
    let (_, text) =
        matrix(&[&after], &["--role", "clerk", "--resource", "wiki:read"]).expect("text");
    assert!(text.contains(named) && !text.contains(all), "{text}");
    assert!(
        text.contains("note: 1 line about other actions: `--actions all` shows them"),
        "{text}"
    );
    let wanted = ["--role", "clerk", "--resource", "wiki:read", "--actions", "all"];
    let (_, text) = matrix(&[&after], &wanted).expect("text");
    assert!(text.contains(named) && text.contains(all) && !text.contains("--actions"), "{text}");
    // The exit code speaks of all, and so does the note.
    let rules = rules.lines().take(1).collect::<String>() + "\n";
    std::fs::write(after.join("rules.yaml"), &rules).expect("writable");
    let only_others = "- {name: 'wiki:read', defaultRoles: [reader]}\n";
    for folder in [&before, &after] {
        std::fs::write(folder.join("resources.yaml"), only_others).expect("writable");
    }
    let text = difference(&before, &after, "text").expect("a difference");
    assert!(text.contains("about other actions"), "{text}");
    assert!(!text.contains("gains wiki:read by"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&difference(&before, &after, "json").expect("JSON")).expect("JSON");
    assert_eq!(json["actions"], "named");
}
