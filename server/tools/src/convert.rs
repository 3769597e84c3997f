//! `portcullis convert`: writes a condition in another form.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use portcullis_bundle::{FORMAT_WIDTH, condition_files, write_as_when};
use portcullis_engine::{Condition, casbin, expression, json};

use crate::condition_text;
use crate::policy_test::tenant_folders;

/// The exit code if everything has the other form.
const CONVERTED: u8 = 0;
/// The exit code if a part has no counterpart in the other form.
const NO_COUNTERPART: u8 = 1;
/// The exit code if the input cannot be read.
const REFUSED: u8 = 2;
/// The attributes of a matcher that have no dot after `r.`.
const OF_MATCHERS: [&str; 5] = ["r.sub", "r.obj", "r.act", "r.dom", "r.time"];
/// The beginnings of the other attributes of a matcher.
const PREFIXES: [&str; 4] = ["r.sub.", "r.obj.", "r.act.", "r.ctx."];

/// The arguments of `portcullis convert`.
#[derive(Debug, clap::Args)]
pub struct ConvertArguments {
    /// The form to write.
    #[arg(long, value_enum)]
    pub to: WrittenForm,
    /// The form of the input. Without it: `{` begins a tree, `r.sub`, `r.obj` and so on are of a matcher, and any other
    /// text is an expression.
    #[arg(long, value_enum)]
    pub from: Option<ConditionForm>,
    /// Write the policies of a tenant folder with `when` in place of `rule_data`; needs `--to expression`.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["from", "file"])]
    pub folder: Option<PathBuf>,
    /// A file with one condition (default: standard input, as `-`).
    pub file: Option<PathBuf>,
}

/// A form in which a condition is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum WrittenForm {
    /// A condition tree in JSON.
    Tree,
    /// An expression.
    Expression,
}

/// A form of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ConditionForm {
    /// A condition tree in JSON.
    Tree,
    /// An expression.
    Expression,
    /// A Casbin matcher.
    Matcher,
}

/// Writes the condition on `input` or in the file in another form to `out`, and faults to `err`; or rewrites a folder.
///
/// # Errors
/// A file or a stream cannot be read or written.
pub fn run(
    arguments: &ConvertArguments,
    input: &mut dyn Read,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    if let Some(folder) = &arguments.folder {
        return convert_folder(arguments.to, folder, out, err);
    }
    let file = arguments.file.as_deref().filter(|file| *file != Path::new("-"));
    let name = file.map_or("standard input".into(), Path::to_string_lossy);
    let text = match file {
        Some(file) => fs::File::open(file)
            .with_context(|| format!("{name}: cannot be read"))
            .and_then(|file| condition_text::read(file, &name)),
        None => condition_text::read(input, &name),
    };
    let text = match text {
        Ok(text) => text,
        Err(fault) => {
            writeln!(err, "portcullis: {fault:#}")?;
            return Ok(ExitCode::from(REFUSED));
        }
    };
    let condition = match read(&text, arguments.from) {
        Ok(condition) => condition,
        Err(fault) => {
            writeln!(err, "portcullis: {name}: {fault}")?;
            return Ok(ExitCode::from(REFUSED));
        }
    };
    match write(condition, arguments.to) {
        Ok(text) => {
            writeln!(out, "{text}")?;
            Ok(ExitCode::from(CONVERTED))
        }
        Err(reason) => {
            writeln!(err, "portcullis: {name}: {reason}")?;
            Ok(ExitCode::from(NO_COUNTERPART))
        }
    }
}

/// Reads a condition of this form, or of the form that it appears to have. An object with `matcher` or `expression` is
/// read as `rule_data`.
fn read(text: &str, form: Option<ConditionForm>) -> Result<Condition, String> {
    let form = form.unwrap_or_else(|| apparent_form(text));
    match form {
        ConditionForm::Expression => {
            expression::parse(text).map_err(|fault| unlike("an expression", fault))
        }
        ConditionForm::Matcher => casbin::parse(text).map_err(|fault| unlike("a matcher", fault)),
        ConditionForm::Tree => {
            let json = json::parse(text.as_bytes()).map_err(|fault| unlike("a tree", fault))?;
            // What the API has as `rule_data` is pasted whole.
            if let Some(text) = json.get("expression").and_then(json::Json::as_str) {
                return read(text, Some(ConditionForm::Expression));
            }
            if let Some(text) = json.get("matcher").and_then(json::Json::as_str) {
                return read(text, Some(ConditionForm::Matcher));
            }
            Condition::parse(&json).map_err(|fault| unlike("a tree", fault))
        }
    }
}

fn unlike(kind: &str, fault: impl std::fmt::Display) -> String {
    format!("{kind} is expected, but {fault}; --from names another form")
}

fn apparent_form(text: &str) -> ConditionForm {
    if text.trim_start().starts_with('{') {
        return ConditionForm::Tree;
    }
    match casbin::tokens(text) {
        Ok(tokens) if tokens.iter().any(|token| is_of_matcher(token)) => ConditionForm::Matcher,
        _ => ConditionForm::Expression,
    }
}

fn is_of_matcher(token: &str) -> bool {
    OF_MATCHERS.contains(&token) || PREFIXES.iter().any(|prefix| token.starts_with(prefix))
}

/// Writes a condition in this form, or returns what has no counterpart in it.
fn write(condition: Condition, form: WrittenForm) -> Result<String, String> {
    let condition = condition.without_searches();
    let line = expression::print(&condition);
    // The pattern in place of a search may exceed a limit that the search does not.
    if let Err(fault) = expression::parse(&line) {
        return Err(format!("no condition within the limits stands for `{line}`: {fault}"));
    }
    match form {
        WrittenForm::Tree => {
            let tree = condition.to_json().ok_or("a search has no counterpart in a tree")?;
            serde_json::to_string_pretty(&tree).map_err(|error| error.to_string())
        }
        WrittenForm::Expression => Ok(expression::layout(&condition, FORMAT_WIDTH)),
    }
}

/// Rewrites the files of policies of the tenant folders that a path is or contains.
fn convert_folder(
    to: WrittenForm,
    path: &Path,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    if to != WrittenForm::Expression {
        bail!("--folder writes expressions; give `--to expression`");
    }
    let mut code = CONVERTED;
    for folder in tenant_folders(path)? {
        for file in condition_files(&folder).with_context(|| folder.display().to_string())? {
            let name = file.display().to_string();
            let text =
                fs::read_to_string(&file).with_context(|| format!("{name}: cannot be read"))?;
            let written = match write_as_when(&name, &text) {
                Ok(written) => written,
                Err(error) => {
                    writeln!(err, "{error}")?;
                    code = REFUSED;
                    continue;
                }
            };
            if written.converted > 0 {
                fs::write(&file, written.text)
                    .with_context(|| format!("{name}: cannot be written"))?;
                writeln!(
                    out,
                    "{name}: {} of its conditions are written as `when`",
                    written.converted
                )?;
            }
            for line in &written.left {
                writeln!(err, "{line}")?;
                // A file that cannot be read weighs more, and has the higher code.
                code = code.max(NO_COUNTERPART);
            }
        }
    }
    Ok(ExitCode::from(code))
}

#[cfg(test)]
mod tests {
    use portcullis_test_tenants::write_tenant;

    use super::*;

    const TREE: &str = r#"{"type": "NOT", "child": {"type": "CONDITION", "attribute": "user.a", "operator": "in", "value": ["b"]}}"#;

    fn convert(text: &str, to: WrittenForm, from: Option<ConditionForm>) -> Result<String, String> {
        write(read(text, from)?, to)
    }

    #[test]
    fn each_form_becomes_an_expression_and_a_tree() {
        use WrittenForm::{Expression, Tree};
        let tree = serde_json::from_str::<serde_json::Value>(TREE).expect("JSON");
        let (expression, matcher) = ("!(user.a in [\"b\"])", "!(r.sub.a in [\"b\"])");
        let data = [("expression", expression), ("matcher", matcher)]
            .map(|(name, text)| serde_json::json!({name: text}).to_string());
        for text in [TREE, expression, matcher, &data[0], &data[1]] {
            assert_eq!(convert(text, Expression, None).as_deref(), Ok(expression));
            let written = convert(text, Tree, None).expect("a tree");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&written).expect("JSON"), tree);
        }
        // A namespace of a resolver may be `r`.
        let text = "r.sub == \"a\"";
        assert_eq!(convert(text, Expression, None).as_deref(), Ok("request.subject == \"a\""));
        assert_eq!(convert(text, Expression, Some(ConditionForm::Expression)).as_deref(), Ok(text));
        assert_eq!(
            convert("keyMatch2(r.obj.path, '/a/:id')", Expression, None).as_deref(),
            Ok("resource.path matches \"/a/[^/]+\"")
        );
    }

    #[test]
    fn a_text_of_another_form_is_refused() {
        for (text, from, expected) in [
            ("user.a = 1", None, "an expression is expected, but expected `==`"),
            ("r.sub.a = 1", None, "a matcher is expected, but expected "),
            ("{\"type\": \"XOR\"}", None, "a tree is expected, but at `/type`: expected"),
            ("{", Some(ConditionForm::Tree), "a tree is expected, but the text is not valid JSON"),
        ] {
            let error = convert(text, WrittenForm::Expression, from).expect_err(text);
            assert!(
                error.starts_with(expected) && error.ends_with("names another form"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_folder_gets_expressions() {
        let folder = tempfile::tempdir().expect("a folder");
        write_tenant(folder.path());
        let file = folder.path().join("policies.yaml");
        let policy = "- name: a # b\n  rule_data:\n    # c\n    {type: CONDITION, attribute: user.a, operator: exists}\n";
        let braces =
            "- {name: b, rule_data: {type: CONDITION, attribute: user.a, operator: exists}}\n";
        fs::write(&file, format!("{policy}{braces}")).expect("written");
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = convert_folder(WrittenForm::Expression, folder.path(), &mut out, &mut err);
        assert_eq!(code.expect("files"), ExitCode::from(NO_COUNTERPART));
        let expected = format!("- name: a # b\n  # c\n  when: exists(user.a)\n{braces}");
        assert_eq!(fs::read_to_string(&file).expect("read"), expected);
        let [out, err] = [out, err].map(|bytes| String::from_utf8(bytes).expect("text"));
        assert!(
            out.ends_with("policies.yaml: 1 of its conditions are written as `when`\n"),
            "{out}"
        );
        assert!(err.contains("policies.yaml:5:3: `b` keeps its `rule_data`: "), "{err}");
        let code =
            convert_folder(WrittenForm::Tree, folder.path(), &mut Vec::new(), &mut Vec::new());
        assert!(code.is_err());
    }
}
