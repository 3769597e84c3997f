//! `docs/api.md` is true: every command in it is run, in order, and the document must be what comes out.
//!
//! A block ```` ```sh ```` holds one `curl` command. The blocks behind it are its answer: ```` ```http ```` the status line
//! and some of the headers (the command then has `-i`), ```` ```json ```` the body. What differs each time is written as
//! a placeholder, such as `<uuid>`. Beside the commands lies `directory.wasm`, a resolver. A comment `# keeps RULE_ID from .id`
//! puts a member of the answer into a variable, `# keeps TAG from the header ETag` a header.
//!
//! `BLESS=1 cargo test api_tour` writes the answers of today into the document.

pub(crate) mod answer;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use answer::Answer;

use crate::support::openid::{available, skip};
use crate::support::process::{Process, portcullis, repository};
use crate::support::resolver::guest;
use crate::support::{Server, Settings};

const ADMIN_KEY: &str = "only-for-this-tour-0123456789abcdef";

#[test]
fn every_line_of_the_tour_answers_what_is_printed_beside_it() {
    if !available("curl") {
        return skip("the tour of the API needs `curl`");
    }
    let path = repository().join("docs/api.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let walked = Walk::start().through(&document);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, walked).unwrap();
        return;
    }
    for (number, (written, walked)) in document.lines().zip(walked.lines()).enumerate() {
        assert_eq!(
            written,
            walked,
            "docs/api.md, line {}: left as written, right as it is",
            number + 1
        );
    }
    assert_eq!(document, walked);
}

/// A walk through the document, with the servers that it speaks of.
struct Walk {
    variables: BTreeMap<String, String>,
    dev: (Process, tempfile::TempDir),
    _saas: Server,
}

impl Walk {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut dev = portcullis(&["dev", "--data-dir"]);
        dev.arg(directory.path()).env("LISTEN_ADDR", "127.0.0.1:0");
        let dev = Process::spawn(dev);
        let ready = |lines: &[String]| {
            lines.iter().any(|line| line.starts_with("Ctrl-C")).then(|| lines[0].clone())
        };
        let welcome = dev.out.wait_for(ready).expect("`portcullis dev` starts");
        let base = welcome.split(' ').find(|word| word.starts_with("http://")).expect("an address");
        let saas = Settings::without_provider()
            .set("MODE", "saas")
            .set("ADMIN_API_KEY", ADMIN_KEY)
            .start();
        let variables = [
            ("PATH", std::env::var_os("PATH").unwrap().into_string().unwrap()),
            ("BASE", base.to_owned()),
            ("SAAS", format!("http://{}", saas.address)),
            ("ADMIN", ADMIN_KEY.to_owned()),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value)).into();
        std::fs::write(directory.path().join("directory.wasm"), guest("directory")).unwrap();
        Self { variables, dev: (dev, directory), _saas: saas }
    }

    /// The document with the answers that came.
    fn through(mut self, document: &str) -> String {
        let mut written = String::new();
        // The answer to the latest command, while its blocks go on.
        let mut answer: Option<Answer> = None;
        let mut lines = document.lines();
        while let Some(line) = lines.next() {
            written += &format!("{line}\n");
            let Some(kind) = line.strip_prefix("```") else {
                if !line.is_empty() {
                    answer.take().inspect(Answer::must_be_shown);
                }
                continue;
            };
            let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            let text = match (kind, &mut answer) {
                ("sh", _) => {
                    answer.take().inspect(Answer::must_be_shown);
                    answer = Some(self.run(&block));
                    block.join("\n")
                }
                ("http", Some(answer)) => answer.head(&block),
                ("json", Some(answer)) => answer.body(),
                ("text", _) => block.join("\n"),
                _ => panic!("nobody runs or compares this block: {block:#?}"),
            };
            written += &format!("{text}\n```\n");
        }
        answer.inspect(Answer::must_be_shown);
        written
    }

    /// Runs a block as somebody would who pastes it.
    fn run(&mut self, block: &[&str]) -> Answer {
        let commands = block.iter().filter(|line| line.starts_with("curl ")).count();
        assert_eq!(commands, 1, "a block holds one command: {block:#?}");
        let script = block.join("\n");
        let mut shell = Command::new("sh");
        let (_, directory) = &self.dev;
        shell.args(["-euc", &script]).env_clear().envs(&self.variables).stdin(Stdio::null());
        shell.current_dir(directory.path());
        let output = shell.output().expect("a shell");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{err}");
        let places = [self.variables["BASE"].clone(), self.variables["SAAS"].clone()];
        let answer = Answer::new(&script, &String::from_utf8(output.stdout).unwrap(), places);
        for (name, value) in block.iter().filter_map(|line| answer.kept(line)) {
            self.variables.insert(name, value);
        }
        answer
    }
}
