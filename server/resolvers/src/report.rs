//! The answers of resolvers to a check, for the decision and its explanation.

use std::time::Duration;

use portcullis_engine::AttributeAnswers;
use portcullis_resolver_host::{Log, LogLine};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use strum::IntoStaticStr;

use portcullis_model::resolver::ResolverOrigin;

/// The answers of all resolvers to a check.
#[derive(Debug, Default)]
pub struct Asked {
    pub answers: AttributeAnswers,
    /// One for each resolver, in the order in which they were asked.
    pub reports: Vec<Report>,
}

impl Asked {
    /// Whether no module was called, and every answer is there.
    pub fn is_from_cache(&self) -> bool {
        let mut all = self.reports.iter().flat_map(|report| &report.attributes);
        all.all(|attribute| attribute.source == AnswerSource::Cache)
    }

    /// Returns the origins of the answers, one for each resolver.
    pub fn origins(&self) -> Vec<AnswerOrigin<'_>> {
        let origins = self.reports.iter().map(|report| {
            let sources = report.attributes.iter().map(|one| one.source);
            AnswerOrigin::new(&report.namespace, sources, report.call.as_ref())
        });
        origins.collect()
    }
}

/// The origin of the answers of one resolver to a check.
#[derive(Clone, Copy, Debug)]
pub struct AnswerOrigin<'a> {
    pub namespace: &'a str,
    pub source: AnswerSource,
    /// The time of the call, if there was one.
    pub elapsed: Option<Duration>,
}

impl<'a> AnswerOrigin<'a> {
    /// Returns the origin of answers with these sources: a call if any of them needed one.
    pub(crate) fn new(
        namespace: &'a str,
        sources: impl Iterator<Item = AnswerSource>,
        call: Option<&Call>,
    ) -> Self {
        // `max` goes by the order of the variants: one call outweighs all cached answers.
        let source = sources.filter(|source| *source != AnswerSource::Nowhere).max();
        let source = source.unwrap_or(AnswerSource::Nowhere);
        Self { namespace, source, elapsed: call.map(|call| call.elapsed) }
    }
}

/// The answers of one resolver to a check.
#[derive(Debug, Serialize)]
pub struct Report {
    pub namespace: Box<str>,
    /// The owner of the resolver; `None` if there is no resolver.
    pub origin: Option<ResolverOrigin>,
    /// The wanted attributes, and the source of each answer.
    pub attributes: Vec<Provenance>,
    /// The cause of missing or stale answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<str>>,
    /// The call of the module, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
}

/// An attribute that was asked for.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Provenance {
    pub name: Box<str>,
    pub source: AnswerSource,
}

/// The source of an attribute's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum AnswerSource {
    /// An earlier call, within its time.
    Cache,
    /// An earlier call, beyond its time: the source is unavailable.
    Stale,
    /// The call of this check.
    Call,
    /// There is no answer.
    Nowhere,
}

/// A call of a module.
#[derive(Debug)]
pub struct Call {
    pub elapsed: Duration,
    /// The most linear memory that the guest had.
    pub memory_bytes: usize,
    pub log: Log,
}

impl Serialize for Call {
    /// `elapsed_us`, `memory_bytes`, `log` (a list of `level` and `message`), and `log_dropped`, the number of lines that
    /// were too many.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'l> {
            level: &'static str,
            message: &'l str,
        }
        fn shown(line: &LogLine) -> Line<'_> {
            Line { level: line.level.as_str(), message: &line.text }
        }
        let log: Vec<_> = self.log.lines.iter().map(shown).collect();
        let elapsed = u64::try_from(self.elapsed.as_micros()).unwrap_or(u64::MAX);
        let mut call = serializer.serialize_struct("Call", 4)?;
        call.serialize_field("elapsed_us", &elapsed)?;
        call.serialize_field("memory_bytes", &self.memory_bytes)?;
        call.serialize_field("log", &log)?;
        call.serialize_field("log_dropped", &self.log.dropped)?;
        call.end()
    }
}
