//! One report in both forms.

use super::*;

fn report(entries: usize) -> Report {
    let mut section = Section::main("changes", "");
    for number in 0..entries {
        section.entries.push(ReportEntry::new(Sign::Added, format!("rule `{number}`")));
    }
    Report::new("plan for git:o", "Portcullis: plan").section(section)
}

#[test]
fn a_list_has_twenty_lines_and_says_how_to_see_the_others() {
    for (entries, shown, more) in [
        (20, 20, None),
        (21, 20, Some("and 1 more (`--all` prints them)")),
        (500, 20, Some("and 480 more (`--all` prints them)")),
    ] {
        let lines = |text: &str| text.lines().filter(|line| line.starts_with("+ ")).count();
        let last = |text: &str| {
            let last = text.lines().find(|line| line.contains(" more ("));
            last.map(|line| line.trim().to_owned())
        };
        let report = report(entries);
        let (text, comment) = (report.text(false), report.markdown(false));
        for text in [&text, &comment] {
            assert_eq!((lines(text), last(text)), (shown, more.map(str::to_owned)), "{text}");
        }
        for text in [report.text(true), report.markdown(true)] {
            assert_eq!((lines(&text), last(&text)), (entries, None), "{text}");
        }
    }
}

#[test]
fn an_entry_is_not_cut_from_its_details() {
    let detail = || SignedLine::new(Sign::Plain, "detail".to_owned());
    let entry = |details: usize| {
        let details = (0..details).map(|_| detail()).collect();
        ReportEntry::new(Sign::Changed, "policy".to_owned()).with_details(details)
    };
    let shown = |entries: Vec<ReportEntry>| {
        let mut section = Section::main("changes", "");
        section.entries = entries;
        let text = Report::new("", "").section(section).text(false);
        (text.matches("policy").count(), text.matches("detail").count())
    };
    assert_eq!(shown(vec![entry(10), entry(8), entry(8)]), (2, 18));
    assert_eq!(shown(vec![entry(10), entry(9)]), (1, 10));
    // The first one is always there.
    assert_eq!(shown(vec![entry(30), entry(1)]), (1, 30));
}

#[test]
fn a_comment_collapses_and_has_texts_of_a_tenant_as_code_alone() {
    let mut section = Section::new("impact");
    let hostile = "a|b ``` </details><img src=x> @all\n# top";
    let entry = ReportEntry::new(Sign::Plain, hostile.to_owned());
    let details = vec![SignedLine::new(Sign::Removed, hostile.to_owned())];
    section.entries.push(entry.with_details(details));
    section.notes.push(hostile.to_owned());
    let comment = Report::new(hostile, "Portcullis: plan").section(section).markdown(false);
    let shown = hostile.replace('\n', "\\n");
    let expected = format!(
        "### Portcullis: plan\n\n```` {shown} ````\n\n<details><summary>Impact (1)</summary>\n\n\
         ````diff\n  {shown}\n-   {shown}\n  note: {shown}\n````\n\n</details>\n"
    );
    assert_eq!(comment, expected);
}

#[test]
fn a_comment_is_not_larger_than_a_forge_takes() {
    let mut section = Section::main("changes", "");
    let entry = |n: usize| ReportEntry::new(Sign::Added, format!("{n} {}", "x".repeat(100)));
    section.entries.extend((0..2_000).map(entry));
    let second = Section::new("warnings").with_lines((0..2_000).map(|n| format!("{n}")));
    let report = Report::new("title", "heading").section(section).section(second);
    let comment = report.markdown(true);
    assert!(comment.len() < 65_000, "{}", comment.len());
    assert!(
        comment.contains(" more (`--format json` has them)\n```\n"),
        "nothing says that there are more"
    );
    assert_eq!(comment.matches("<details>").count(), comment.matches("</details>").count());
}

#[test]
fn a_section_without_anything_to_say_is_left_out() {
    let report = || Report::new("title", "heading").section(Section::new("warnings"));
    assert_eq!(report().text(false), "title\n");
    let empty = Section::new("impact").with_empty("no decision changes");
    let report = report().section(empty);
    assert_eq!(report.text(false), "title\nimpact:\n  no decision changes\n");
    let expected = "### heading\n\n` title `\n\nNo decision changes\n";
    assert_eq!(report.markdown(false), expected);
}
