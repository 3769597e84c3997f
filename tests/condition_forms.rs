//! `portcullis fmt` and `portcullis convert` (`docs/expressions.md`).

use std::io::Write;
use std::process::{Output, Stdio};

use crate::support::process::{finish, portcullis, repository};

/// Runs a command with this standard input. Returns its exit code, standard output and standard error.
fn piped(arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = portcullis(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn the_samples_are_formatted() {
    let mut command = portcullis(&["fmt", "--check"]);
    command.arg(repository().join("policies"));
    let done = finish(command);
    assert_eq!((done.code, &*done.out, &*done.err), (Some(0), "", ""));
}

#[test]
fn files_are_formatted_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policies.yaml");
    std::fs::write(&file, "# mine\n- when: user.a==1 # why\n  name: x\n").unwrap();
    let path = file.to_str().unwrap();
    for (arguments, code, out) in [
        (&["fmt", "--check", path][..], 1, path.to_owned()),
        (&["fmt", path], 0, path.to_owned()),
        (&["fmt", "--check", path], 0, String::new()),
    ] {
        let done = finish(portcullis(arguments));
        assert_eq!((done.code, done.out, &*done.err), (Some(code), out, ""), "{arguments:?}");
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, "# mine\n- when: user.a == 1 # why\n  name: x\n");
}

#[test]
fn standard_input_is_formatted_and_converted() {
    let matcher = "r.sub.age >= 18 && !(r.obj.state in (\"locked\", \"archived\"))";
    let expression = "user.age >= 18 && !(resource.state in [\"archived\", \"locked\"])";
    for (arguments, input, code, out, err) in [
        (&["fmt", "-"][..], "user.a==1", 0, "user.a == 1", ""),
        (&["fmt", "-"], "user.a = 1", 2, "", "(did you mean `==`?)"),
        (&["convert", "--to", "expression"], matcher, 0, expression, ""),
        (
            &["convert", "--to", "matcher", "-"],
            "exists(user.a)",
            2,
            "",
            "[possible values: tree, expression]",
        ),
        (
            &["convert", "--to", "tree", "nowhere"],
            "",
            2,
            "",
            "nowhere: cannot be read: No such file",
        ),
        (
            &["convert", "--to", "tree", "--from", "matcher"],
            expression,
            2,
            "",
            "--from names another form",
        ),
    ] {
        let (got, printed, error) = piped(arguments, input);
        assert_eq!((got, printed.trim_end()), (Some(code), out), "{arguments:?}: {error}");
        assert!(error.contains(err), "{error}");
    }
}
