//! The examples of `docs/lint.md`.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_bundle::Bundle;
use portcullis_engine::names::names;
use strum::VariantArray;

use super::super::explain::{DOCUMENT, explanation};
use super::super::{Finding, LintCode, Severity, findings};

/// The code without an example.
const WITHOUT_EXAMPLE: LintCode = LintCode::NotJudged;

/// A file of an example: name and content.
type ExampleFile<'d> = (&'d str, &'d str);

/// Returns the files in the blocks of a part of the document.
fn files(part: &str) -> Vec<ExampleFile<'_>> {
    let blocks = part.split("```yaml\n# ").skip(1);
    blocks
        .map(|block| {
            let (name, rest) = block.split_once('\n').expect("a first line with the name");
            (name, rest.split("```").next().unwrap_or_default())
        })
        .collect()
}

/// Returns the findings about the folder of the document with these files over it.
fn findings_of(example: &[ExampleFile<'_>]) -> Vec<Finding> {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, codes) = DOCUMENT.split_once("\n# Codes\n").expect("the codes");
    let base = files(codes.split("\n## ").next().expect("the folder of all examples"));
    let empty = ["rules.yaml", "policies.yaml", "cases.yaml"].map(|name| (name, "[]\n"));
    for (name, text) in base.iter().chain(&empty).chain(example) {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    copy_resolver(folder.path());
    let bundle = Bundle::read_folder(folder.path());
    let bundle = bundle.unwrap_or_else(|error| panic!("{example:?}: {error}"));
    findings("acme", &bundle, &[])
}

fn copy_resolver(folder: &Path) {
    let sample: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../../policies/resolvers/business-hours"].iter().collect();
    let own = folder.join("resolvers/business-hours");
    fs::create_dir_all(&own).expect("writable");
    for name in ["manifest.json", "descriptor.json"] {
        fs::copy(sample.join(name), own.join(name)).expect("a file of the sample");
    }
}

#[test]
fn every_code_has_a_section_with_its_severity() {
    let (_, codes) = DOCUMENT.split_once("\n# Codes\n").expect("the codes");
    let headings = codes.split("\n## ").skip(1).filter_map(|section| section.lines().next());
    let all = names::<LintCode>().map(str::to_owned);
    let mut all: Vec<String> = all.collect();
    let mut documented: Vec<String> = headings.map(str::to_owned).collect();
    all.sort();
    documented.sort();
    assert_eq!(documented, all);
    for code in LintCode::VARIANTS.iter().copied() {
        let severity = format!("Severity: {}.\n", code.severity().into_str());
        assert!(explanation(code).starts_with(&severity), "{code}");
    }
}

#[test]
fn bad_examples_have_the_finding_and_good_ones_have_none() {
    for code in LintCode::VARIANTS.iter().copied().filter(|code| *code != WITHOUT_EXAMPLE) {
        let section = explanation(code);
        let (bad, good) = section.split_once("\nGood:\n").expect("a good example");
        let (_, bad) = bad.split_once("\nBad:\n").expect("a bad example");
        let bad = findings_of(&files(bad));
        let good = findings_of(&files(good));
        assert!(bad.iter().any(|finding| finding.code == code), "{code}: bad: {bad:?}");
        let other = |finding: &&Finding| finding.code != code && finding.severity != Severity::Note;
        assert_eq!(bad.iter().find(other), None, "{code}: bad");
        let same = |finding: &&Finding| finding.code == code;
        assert_eq!(good.iter().find(same), None, "{code}: good");
        assert_eq!(good.iter().find(other), None, "{code}: good");
    }
}

#[test]
fn explanations_are_printed() {
    let (status, out, _) = super::lint(Path::new("."), |arguments| {
        arguments.explain = Some(LintCode::Outranked);
    });
    assert_eq!(status, std::process::ExitCode::SUCCESS);
    assert!(out.starts_with("OUTRANKED\n\nSeverity: error.\n"), "{out}");
    assert!(out.ends_with("```\n"), "{out}");
    assert!(!out.contains("## "), "{out}");
}
