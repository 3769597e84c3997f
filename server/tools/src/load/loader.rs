//! Writes the parts of a file, one after the other.

use std::collections::HashSet;
use std::io::{BufRead, Write};
use std::time::Duration;

use anyhow::Context;
use http::header::RETRY_AFTER;
use http::{Method, StatusCode};
use portcullis_egress::Answer;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::LoadArguments;
use super::key::key;
use super::kind::Loaded;
use super::noted::{Counts, NotedProgress};
use super::parts::{FilePart, Parts};
use crate::service::{Call, ListedLines, Service, is_conflict, refusal};

/// The lines after which the progress is shown.
const SHOWN_EACH: u64 = 10_000;
/// Most repeats of a call that the service has no time for.
const MAX_REPEATS: usize = 20;
/// Longest pause before a repeat.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// A file that is written.
pub(super) struct Loader<'l> {
    pub(super) service: &'l Service,
    pub(super) loaded: Loaded,
    pub(super) arguments: &'l LoadArguments,
    pub(super) noted: NotedProgress,
}

/// The answer to a call.
#[derive(Deserialize)]
struct Done {
    written: u64,
    unchanged: u64,
    #[serde(default)]
    deleted: u64,
    sync: Option<String>,
}

impl Loader<'_> {
    /// Skips what is written. Returns whether the text before is the same, and the service has the last part of it: another
    /// tenant, or a database that was replaced, may lack it.
    pub(super) async fn can_go_on<R: BufRead>(&self, parts: &mut Parts<R>) -> anyhow::Result<bool> {
        if !parts.skip(self.noted.progress())? {
            return Ok(false);
        }
        let Some(last) = self.read(parts)? else { return Ok(false) };
        Ok(self.write(&last, false).await?.written == 0)
    }

    /// Writes the parts that are left, and returns the counts of all.
    pub(super) async fn load<R: BufRead>(
        mut self,
        mut parts: Parts<R>,
        err: &mut (dyn Write + Send),
    ) -> anyhow::Result<Counts> {
        if self.noted.is_begun() {
            writeln!(err, "going on after line {}", self.noted.progress().written_to)?;
        }
        let (mut keys, mut shown) = (HashSet::new(), self.noted.progress().written_to);
        let mut counts = self.noted.progress().counts;
        let mut part = self.read(&mut parts)?;
        if part.is_none() && self.is_sync() {
            let (method, route, body) = self.call("", true);
            counts.add(&self.send(method, route, body, None).await?);
        }
        while let Some(this) = part {
            // The end of a sync is a part of its last call.
            let next = self.read(&mut parts)?;
            let done = self.write(&this, next.is_none()).await?;
            self.remember(&this, &mut keys)?;
            counts.add(&done);
            let line = this.last_line;
            // The end is not noted: to go on after it would be to begin a sync of nothing.
            if next.is_some()
                && let Err(error) = self.noted.note(this.begin, line, done.sync, counts)
            {
                writeln!(err, "{error:#}: after an interruption the command begins anew")?;
                self.noted.keep_nowhere();
            }
            if line - shown >= SHOWN_EACH {
                shown = line;
                writeln!(err, "line {line}: {counts}")?;
            }
            part = next;
        }
        if self.arguments.sync && self.arguments.dry_run {
            counts.deleted += self.count_stale(&keys).await?;
        }
        self.noted.forget();
        Ok(counts)
    }

    /// Reads the next part.
    fn read<R: BufRead>(&self, parts: &mut Parts<R>) -> anyhow::Result<Option<FilePart>> {
        let read = parts.next();
        read.map_err(|error| self.after(error.context(self.arguments.not_read())))
    }

    /// Returns the error with what is written.
    fn after(&self, error: anyhow::Error) -> anyhow::Error {
        let line = self.noted.progress().written_to;
        if line == 0 || self.arguments.dry_run {
            return error;
        }
        let again =
            if self.noted.is_kept() { "goes on after them" } else { "leaves them unchanged" };
        error.context(format!(
            "the lines up to {line} are written; run the command again, and it {again}"
        ))
    }

    /// Writes a part; the last one ends a sync.
    async fn write(&self, part: &FilePart, is_last: bool) -> anyhow::Result<Done> {
        let (method, route, body) = self.call(&part.records, is_last);
        let lines = ListedLines { member: self.member(), lines: &part.lines };
        self.send(method, route, body, Some(lines)).await.map_err(|error| {
            if self.noted.progress().sync.is_some() && is_conflict(&error) {
                self.noted.forget();
                return error.context("run the command again: it begins a new sync");
            }
            self.after(error)
        })
    }

    /// Returns whether the calls are those of a sync. A dry run only asks what writes would do.
    fn is_sync(&self) -> bool {
        self.arguments.sync && !self.arguments.dry_run
    }

    /// Returns the member of the body that has the records.
    fn member(&self) -> &'static str {
        if self.is_sync() { self.loaded.list() } else { self.loaded.write().1 }
    }

    /// Returns method, route and body of a call with these records.
    fn call(&self, records: &str, is_last: bool) -> (Method, &'static str, String) {
        // The records are JSON texts already, and are not read again.
        let mut body = format!("{{\"{}\":[{records}]", self.member());
        if let Some(source) = &self.arguments.source {
            add_member(&mut body, "source", json!(source));
        }
        let (method, route) = match self.is_sync() {
            true => {
                add_member(&mut body, "finish", is_last.into());
                add_member(&mut body, "allow_deletes", self.arguments.allow_deletes.into());
                if let Some(sync) = &self.noted.progress().sync {
                    add_member(&mut body, "sync", json!(sync));
                }
                (Method::POST, self.loaded.sync())
            }
            false => (self.loaded.write().0, self.loaded.list()),
        };
        (method, route, body + "}")
    }

    /// Sends a call, again while the service has no time for it: a repeat changes nothing.
    async fn send(
        &self,
        method: Method,
        route: &'static str,
        body: String,
        lines: Option<ListedLines<'_>>,
    ) -> anyhow::Result<Done> {
        let query: &[_] = if self.arguments.dry_run { &[("dry_run", "true")] } else { &[] };
        let url = self.service.route(route, query);
        let mut repeats = 0;
        let answer = loop {
            let sent = Some(body.clone().into_bytes());
            let answer = self.service.send(method.clone(), url.clone(), sent).await?;
            let Some(pause) = pause(&answer).filter(|_| repeats < MAX_REPEATS) else {
                break answer;
            };
            tokio::time::sleep(pause).await;
            repeats += 1;
        };
        if answer.status.is_success() {
            return serde_json::from_slice(&answer.body)
                .with_context(|| format!("the answer to {method} /api/v1/{route}"));
        }
        let call = Call { method, lines, ..Call::get(&self.service.base, route) };
        Err(refusal(&call, &answer))
    }

    /// Remembers the records of a part, if a dry run must tell what a sync would delete.
    fn remember(&self, part: &FilePart, keys: &mut HashSet<String>) -> anyhow::Result<()> {
        if self.arguments.sync && self.arguments.dry_run {
            let records: Vec<Value> = serde_json::from_str(&format!("[{}]", part.records))?;
            keys.extend(records.iter().map(|record| key(self.loaded, record)));
        }
        Ok(())
    }

    /// Counts the records of the source that are not among `keys`.
    async fn count_stale(&self, keys: &HashSet<String>) -> anyhow::Result<u64> {
        let Some(source) = &self.arguments.source else { return Ok(0) };
        let query = match self.loaded {
            Loaded::Relations => vec![("source", source.clone())],
            // Entities cannot be listed by source.
            Loaded::Entities => Vec::new(),
        };
        let mut stale = 0;
        let pages = self.service.each_page(self.loaded.list(), &query, |page| {
            let own = page.iter().filter(|record| record["source"] == **source);
            stale += own.filter(|record| !keys.contains(&key(self.loaded, record))).count() as u64;
            Ok(true)
        });
        pages.await?;
        Ok(stale)
    }
}

fn add_member(body: &mut String, name: &str, value: Value) {
    *body += &format!(",\"{name}\":{value}");
}

impl Counts {
    fn add(&mut self, done: &Done) {
        self.written += done.written;
        self.unchanged += done.unchanged;
        self.deleted += done.deleted;
    }
}

/// Returns the time after which the service may have time for a call; `None` if the answer does not say so.
fn pause(answer: &Answer) -> Option<Duration> {
    let is_busy =
        matches!(answer.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    let seconds = answer.headers.get(RETRY_AFTER).filter(|_| is_busy)?.to_str().ok()?;
    Some(Duration::from_secs(seconds.parse().ok()?).min(MAX_PAUSE))
}
