//! The first page, the tutorials and some guides are true: every command in them is run, in order, in
//! one shell that starts in an empty folder, and the document must be what comes out. What follows the heading [`END`] is no part
//! of a tutorial.
//!
//! The blocks ```` ```sh ```` are the commands. The block behind one is its output: ```` ```text ````, or ```` ```json ````
//! if it is JSON, which is laid out. Values that differ each time are placeholders, as in `docs/api.md`. The ports of the
//! document are replaced by free ones. Other blocks are not allowed: nobody would run or compare them.
//!
//! `BLESS=1 cargo test tutorial` writes the output of today into the document.

mod shell;

use crate::support::openid::{available, skip};
use crate::support::process::repository;
use shell::Shell;

/// The heading behind a tutorial.
const END: &str = "## Reference";
const TOOLS: [&str; 3] = ["bash", "curl", "python3"];

#[test]
fn every_command_of_the_tutorial_prints_what_stands_behind_it() {
    follow("docs/tutorial.md");
}

#[test]
fn every_command_of_the_first_page_prints_what_stands_behind_it() {
    follow("README.md");
}

#[test]
fn every_command_of_the_tutorial_of_policies_as_code_prints_what_stands_behind_it() {
    follow("docs/policies-as-code.md");
}

#[test]
fn every_command_of_the_guide_to_entities_prints_what_stands_behind_it() {
    follow("docs/entities.md");
}

#[test]
fn every_command_of_the_guide_to_safe_changes_prints_what_stands_behind_it() {
    follow("docs/change-safely.md");
}

#[test]
fn every_command_of_the_guide_to_modelling_prints_what_stands_behind_it() {
    follow("docs/modelling.md");
}

#[test]
fn every_command_of_the_guide_to_relations_prints_what_stands_behind_it() {
    follow("docs/relations.md");
}

#[test]
fn every_command_for_those_who_come_from_spicedb_prints_what_stands_behind_it() {
    follow("docs/spicedb.md");
}

#[test]
fn every_command_of_the_guide_to_the_past_prints_what_stands_behind_it() {
    follow("docs/who-did-what.md");
}

#[test]
fn every_command_for_those_who_come_from_another_system_prints_what_stands_behind_it() {
    follow("docs/migrating.md");
}

/// Runs the commands of a document, and compares it with what comes out.
fn follow(name: &str) {
    if let Some(missing) = TOOLS.into_iter().find(|tool| !available(tool)) {
        return skip(&format!("the tutorial needs `{missing}`"));
    }
    let path = repository().join(name);
    let document = std::fs::read_to_string(&path).unwrap();
    let end = document.find(&format!("\n{END}\n")).map_or(document.len(), |end| end + 1);
    let (tutorial, rest) = document.split_at(end);
    let walked = through(tutorial) + rest;
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, walked).unwrap();
        return;
    }
    for (number, (written, walked)) in document.lines().zip(walked.lines()).enumerate() {
        assert_eq!(written, walked, "{name}, line {}: left as written, right as it is", number + 1);
    }
    assert_eq!(document, walked);
}

#[test]
fn an_output_that_differs_is_written_as_it_is() {
    if !available("bash") {
        return skip("the tutorial needs `bash`");
    }
    let document = "```sh\nX=1; echo $((X + 1)) >&2\n```\n\n```text\n3\n```\n\n```sh\necho '{\"x\":'$X'}'\n```\n\n```json\n0\n```\n";
    let expected = document.replace("\n3\n", "\n2\n").replace("\n0\n", "\n{\"x\": 1}\n");
    assert_eq!(through(document), expected);
}

/// Returns the document with the output of its commands.
fn through(document: &str) -> String {
    let mut shell = Shell::start();
    let mut written = String::new();
    // The output of the latest block of commands, until it is shown.
    let mut output: Option<String> = None;
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        written += &format!("{line}\n");
        let Some(kind) = line.strip_prefix("```") else { continue };
        let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        let block = block.join("\n");
        let text = match (kind, output.take()) {
            // A picture.
            ("mermaid", None) => block,
            ("sh", None) => {
                output = Some(shell.run(&block)).filter(|output| !output.is_empty());
                block
            }
            ("text", Some(output)) => output,
            ("json", Some(output)) => shell::laid_out(&output),
            (_, Some(output)) => panic!("nothing shows this output: {output}"),
            ("text" | "json", None) => panic!("no command prints this: {block}"),
            (_, None) => panic!("nobody runs or compares this block: {block}"),
        };
        written += &format!("{text}\n```\n");
    }
    assert_eq!(output, None, "nothing shows the last output");
    written
}
