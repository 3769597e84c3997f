//! The shell in which somebody follows the tutorial.

use std::io::{PipeWriter, Write};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::once::api_tour::answer;
use crate::support::process::{Process, portcullis, repository};

/// The addresses of the document: of Portcullis, and of the receiver of webhooks.
const ADDRESSES: [&str; 2] = ["127.0.0.1:8080", "127.0.0.1:9099"];
/// A line behind the output of a block, followed by the exit code.
const END: &str = "--- end of the block ";

/// A shell that runs one block after the other, in a new folder. Its variables and background jobs stay from block to block.
pub(super) struct Shell {
    process: Process,
    script: PipeWriter,
    /// The free addresses in place of [`ADDRESSES`].
    addresses: [String; 2],
    seen: usize,
    /// The folder of the commands and, beside it, the file with the block that runs.
    directory: TempDir,
}

impl Shell {
    pub(super) fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("product");
        std::fs::create_dir(&folder).unwrap();
        let addresses = free_addresses();
        let binary = portcullis(&[]);
        let binaries = Path::new(binary.get_program()).parent().expect("a folder");
        let others = std::env::var_os("PATH").unwrap().into_string().unwrap();
        let (input, script) = std::io::pipe().unwrap();
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc"]).current_dir(folder).stdin(input).env_clear();
        bash.env("PATH", format!("{}:{others}", binaries.display()));
        bash.env("REPO", repository()).env("LISTEN_ADDR", &addresses[0]);
        // A separate group, so that the end of the test ends what a failed block left running.
        bash.process_group(0);
        let process = Process::spawn(bash);
        Self { process, script, addresses, seen: 0, directory }
    }

    /// Runs a block as somebody would who pastes it. Returns all that it prints, as the document shows it.
    pub(super) fn run(&mut self, block: &str) -> String {
        let mut own = block.to_owned();
        for (shown, used) in ADDRESSES.iter().zip(&self.addresses) {
            own = own.replace(shown, used);
        }
        let file = self.directory.path().join("block.sh");
        std::fs::write(&file, own + "\n").unwrap();
        // The commands must not read the script of the shell.
        let call =
            format!("source '{}' </dev/null 2>&1; printf '\\n{END}%s\\n' $?\n", file.display());
        self.script.write_all(call.as_bytes()).unwrap();
        let seen = self.seen;
        let output = self.process.out.wait_for(|lines| {
            let at = lines.iter().skip(seen).position(|line| line.starts_with(END))?;
            Some(lines[seen..=seen + at].to_vec())
        });
        let Some(mut output) = output else {
            let so_far = self.process.out.lines()[seen..].join("\n");
            panic!("this block does not end:\n{block}\n{so_far}\n{}", self.process.err.text());
        };
        self.seen += output.len();
        let end = output.pop().expect("the end of the block");
        let output = output.join("\n");
        let succeeded = end.strip_prefix(END) == Some("0");
        // A failure that the document shows is meant.
        assert!(succeeded || !output.trim().is_empty(), "this block fails:\n{block}");
        self.shown(output.trim_end())
    }

    /// Returns the output with the addresses of the document, and with placeholders for what differs each time.
    fn shown(&self, output: &str) -> String {
        let places = self.addresses.iter().map(String::as_str).zip(ADDRESSES);
        let lines = output.lines().map(|line| match line.split_once("  took ") {
            Some((before, _)) => format!("{before}  took <time>"),
            None => line.to_owned(),
        });
        answer::normalised(&lines.collect::<Vec<_>>().join("\n"), places)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let kill = format!("kill -s KILL -- -{}", self.process.id());
        let _ = Command::new("sh").args(["-c", &kill]).status();
    }
}

/// Returns each JSON text of the output, one on a line, as the document shows it.
pub(super) fn laid_out(output: &str) -> String {
    let texts = output.lines().map(|line| answer::layout(line, 0));
    texts.collect::<Vec<_>>().join("\n")
}

fn free_addresses() -> [String; 2] {
    // Both are held until both are known.
    let listeners = ADDRESSES.map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().to_string())
}
