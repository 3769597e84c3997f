//! Kills of a process that records: what was acknowledged as durable is there, what else is missing is counted.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use super::*;
use crate::Lost;

/// Kills of one run. `.ci/long` runs many.
const KILLS: u32 = 4;
const MANY_KILLS: u32 = 200;
/// The file that lets the recorder record: nobody else runs it for ever.
const MARKER: &str = "record";

#[tokio::test]
async fn a_kill_loses_no_durable_record_and_counts_the_others() {
    kill_repeatedly(KILLS).await;
}

#[tokio::test]
#[ignore = "takes minutes: `.ci/long` runs it"]
async fn many_kills_lose_no_durable_record() {
    kill_repeatedly(MANY_KILLS).await;
}

async fn kill_repeatedly(kills: u32) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(MARKER), []).expect("writes");
    let (mut acknowledged, mut unawaited, mut lost) = (Vec::new(), 0_u64, 0);
    for _ in 0..kills {
        let mut child = Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", "tests::kills::recorder", "--ignored", "--nocapture"])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let wanted = fastrand::usize(20..2_000);
        let mut read = 0;
        for line in lines {
            let line = line.expect("a line");
            match line.split_once(' ') {
                Some(("durable", id)) => acknowledged.push(id.parse::<Uuid>().expect("an id")),
                Some(("async", _)) => unawaited += 1,
                _ => continue,
            }
            read += 1;
            if read == wanted {
                // What is in the pipe was acknowledged as well.
                child.kill().expect("is killed");
            }
        }
        child.wait().expect("ends");
        lost += open(folder.path()).1.lost(Lost::Killed);
    }
    let (log, _) = open(folder.path());
    let selection = DecisionSelection::default();
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let page = DecisionPage { before, limit: usize::MAX / 4 };
        let part = log.query("acme", &selection, page, ReadLimit::none()).await.expect("reads");
        before = part.into.records.last().map(|record| record.id);
        found.extend(part.into.records);
        if !part.into.more {
            break;
        }
    }
    found.sort_unstable_by_key(|record| record.id);
    let has = |id: &Uuid| found.binary_search_by_key(id, |record| record.id).is_ok();
    assert!(acknowledged.iter().all(has), "a durable record is lost");
    let kept = found.iter().filter(|record| record.subject == "async").count() as u64;
    assert!(kept + lost >= unawaited, "{kept} + {lost} < {unawaited}");
    assert!(acknowledged.len() > 10 && unawaited > 10, "{} {unawaited}", acknowledged.len());
}

/// Records until it is killed: seven that nobody waits for, then one that it waits for.
#[tokio::test]
#[ignore = "the process that the others kill"]
async fn recorder() {
    if !Path::new(MARKER).exists() {
        return;
    }
    let (log, _) = open(Path::new("."));
    let (ids, json) = (Ids::new(), attributes());
    let clock = Clock::system();
    let mut out = std::io::stdout().lock();
    loop {
        for _ in 0..7 {
            let id = ids.next(clock.now().into());
            log.append(&denial(id, "async", sent(&json)), None).expect("is kept");
            writeln!(out, "async {id}").expect("writes");
        }
        let id = ids.next(clock.now().into());
        let pending = log.append_durably(&denial(id, "durable", sent(&json)), None);
        pending.expect("is taken").written().await.expect("is written");
        writeln!(out, "durable {id}").expect("writes");
    }
}
