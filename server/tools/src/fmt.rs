//! `portcullis fmt`: writes the expressions of tenant folders in their canonical form.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use portcullis_bundle::{FORMAT_WIDTH, condition_files, format_conditions};
use portcullis_engine::expression;

use crate::condition_text;
use crate::policy_test::tenant_folders;

/// The exit code if everything has its canonical form.
const FORMATTED: u8 = 0;
/// The exit code of `--check` if something has another form.
const DIFFERS: u8 = 1;
/// The exit code if a file or an expression cannot be read or written.
const REFUSED: u8 = 2;

/// The arguments of `portcullis fmt`.
#[derive(Debug, clap::Args)]
pub struct FormatArguments {
    /// Change nothing: list the files that would change, and end with exit code 1 if there is one.
    #[arg(long)]
    pub check: bool,
    /// Tenant folders, folders of such folders, and files of policies; `-` is one expression on standard input.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// Formats the files of the paths, or the expression on `input`. Names of changed files go to `out`, faults to `err`. A
/// file with a fault stays as it is, and the others are formatted.
///
/// # Errors
/// A stream cannot be read or written.
pub fn run(
    arguments: &FormatArguments,
    input: &mut dyn Read,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    if arguments.paths.iter().any(|path| path == Path::new("-")) {
        ensure!(arguments.paths.len() == 1, "`-` stands for standard input, and is the only path");
        return one_expression(arguments.check, input, out, err);
    }
    let mut code = FORMATTED;
    for path in &arguments.paths {
        let files = match files(path) {
            Ok(files) => files,
            Err(error) => {
                writeln!(err, "portcullis: {error:#}")?;
                code = REFUSED;
                continue;
            }
        };
        for file in files {
            match format_file(&file, arguments.check) {
                Ok(false) => {}
                Ok(true) => {
                    writeln!(out, "{}", file.display())?;
                    // The highest code wins, so that a refused file is not hidden by one that differs.
                    code = if arguments.check { code.max(DIFFERS) } else { code };
                }
                Err(error) => {
                    writeln!(err, "{error:#}")?;
                    code = REFUSED;
                }
            }
        }
    }
    Ok(ExitCode::from(code))
}

/// Returns the files of policies that a path is or contains.
fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for folder in tenant_folders(path)? {
        files.extend(condition_files(&folder).with_context(|| folder.display().to_string())?);
    }
    Ok(files)
}

/// Formats a file, unless `check` is set. Returns whether it has another form.
fn format_file(file: &Path, check: bool) -> anyhow::Result<bool> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).with_context(|| format!("{name}: cannot be read"))?;
    let formatted = format_conditions(&name, &text)?;
    let differs = formatted != text;
    // A file that has the form already keeps its time of modification.
    if differs && !check {
        fs::write(file, formatted).with_context(|| format!("{name}: cannot be written"))?;
    }
    Ok(differs)
}

fn one_expression(
    check: bool,
    input: &mut dyn Read,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let text = condition_text::read(input, "standard input")?;
    let condition = match expression::parse(&text) {
        Ok(condition) => condition,
        Err(fault) => {
            writeln!(err, "portcullis: standard input is not an expression: {fault}")?;
            return Ok(ExitCode::from(REFUSED));
        }
    };
    let formatted = expression::layout(&condition, FORMAT_WIDTH);
    if check {
        // The last line of the input ends with a break, which the form itself does not have.
        let differs = formatted != text.trim_end();
        return Ok(ExitCode::from(if differs { DIFFERS } else { FORMATTED }));
    }
    writeln!(out, "{formatted}")?;
    Ok(ExitCode::from(FORMATTED))
}

#[cfg(test)]
mod tests {
    use std::io::empty;

    use portcullis_test_tenants::write_tenant;

    use super::*;

    /// Runs the command. Returns its exit code, standard output and standard error.
    fn run_on(paths: &[&Path], check: bool, mut input: &[u8]) -> (ExitCode, String, String) {
        let paths = paths.iter().map(|path| path.to_path_buf()).collect();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let arguments = FormatArguments { check, paths };
        let code = run(&arguments, &mut input, &mut out, &mut err).expect("streams");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (code, text(out), text(err))
    }

    #[test]
    fn a_folder_is_formatted_once() {
        let directory = tempfile::tempdir().expect("a folder");
        let folder = directory.path().join("acme");
        write_tenant(&folder);
        let file = folder.join("policies.yaml");
        let text = "# mine\n- name: a # b\n  when:  user.a==1\n  resource: \"*\"\n";
        fs::write(&file, text).expect("written");
        let name = format!("{}\n", file.display());
        assert_eq!(run_on(&[&folder], true, b""), (ExitCode::from(1), name.clone(), String::new()));
        assert_eq!(fs::read_to_string(&file).expect("read"), text);
        // A folder of tenant folders.
        assert_eq!(
            run_on(&[directory.path()], false, b""),
            (ExitCode::from(0), name, String::new())
        );
        let formatted = text.replace("user.a==1", "user.a == 1");
        assert_eq!(fs::read_to_string(&file).expect("read"), formatted);
        assert_eq!(run_on(&[&file], true, b""), (ExitCode::from(0), String::new(), String::new()));
    }

    #[test]
    fn a_fault_leaves_its_file_as_it_is() {
        let directory = tempfile::tempdir().expect("a folder");
        let [bad, good] = ["a.yaml", "b.yaml"].map(|name| directory.path().join(name));
        fs::write(&bad, "- when: user.a==1\n- when: user.a = 1\n").expect("written");
        fs::write(&good, "- when: user.a==1\n").expect("written");
        let (code, out, err) = run_on(&[&bad, &good], false, b"");
        assert_eq!((code, out), (ExitCode::from(2), format!("{}\n", good.display())));
        let expected = format!("{}:2:9: at `/1/when`: expected `==`", bad.display());
        assert!(err.starts_with(&expected), "{err}");
        assert!(fs::read_to_string(&bad).expect("read").contains("user.a==1"));
        let (code, _, err) = run_on(&[&directory.path().join("none")], true, b"");
        assert!(code == ExitCode::from(2) && err.contains("cannot be read"), "{err}");
    }

    #[test]
    fn an_expression_comes_from_standard_input() {
        let stdin = Path::new("-");
        let (code, out, _) = run_on(&[stdin], false, b"user.a==1&&user.b==2\n");
        assert_eq!((code, &*out), (ExitCode::from(0), "user.a == 1 && user.b == 2\n"));
        assert_eq!(run_on(&[stdin], true, out.as_bytes()).0, ExitCode::from(0));
        assert_eq!(run_on(&[stdin], true, b"user.a==1").0, ExitCode::from(1));
        let (code, _, err) = run_on(&[stdin], false, b"user.a = 1");
        assert!(code == ExitCode::from(2) && err.contains("(did you mean `==`?)"), "{err}");
        let arguments = FormatArguments { check: false, paths: vec!["-".into(), "a".into()] };
        assert!(run(&arguments, &mut empty(), &mut Vec::new(), &mut Vec::new()).is_err());
    }
}
