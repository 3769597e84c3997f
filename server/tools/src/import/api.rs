//! Creates rules and policies through the API of a running Portcullis service.

use std::io::Write;
use std::path::Path;
use std::time::Duration;
use std::{fs, str};

use anyhow::{Context, bail};
use http::header::{CONTENT_TYPE, LINK};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use portcullis_config::Variables;
use portcullis_egress::{Answer, Client};
use portcullis_engine::{Json, json};
use serde::Serialize;
use serde_json::Value;
use url::Url;

use super::output::{Converted, ImportedPolicy};
use super::rules::Rule;

const KEY_HEADER: HeaderName = HeaderName::from_static("x-service-api-key");
/// The time limit of one request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest answer that is read, in bytes: a record or an error is far smaller.
const MAX_ANSWER: usize = 1 << 20;
/// The largest page that is read, in bytes: the service sends 1 MiB of records, and one record at least.
const MAX_PAGE: usize = 4 << 20;
/// The most pages of one list.
const MAX_PAGES: usize = 1_000;
/// The number of rules between two lines about the progress.
const STEP: usize = 100;

/// The service that gets the rules and policies.
pub(super) struct Target {
    url: Url,
    headers: HeaderMap,
    client: Client,
}

/// The numbers of records by what happened to them.
#[derive(Default)]
struct Counts {
    created: usize,
    existing: usize,
}

/// The state of a record in the service.
enum Stored {
    /// It is not there.
    Absent,
    /// It is there as it was imported.
    Same,
}

impl Target {
    pub(super) fn new(
        base: &Url,
        key_file: Option<&Path>,
        variables: &Variables,
    ) -> anyhow::Result<Self> {
        let key = match key_file {
            Some(file) => fs::read_to_string(file)
                .with_context(|| format!("--key-file {}", file.display()))?,
            None => variables.service_api_key()?,
        };
        // The message must not show the key.
        let mut key = HeaderValue::from_str(key.trim()).map_err(|_| {
            anyhow::anyhow!("the service key contains characters that a key cannot have")
        })?;
        key.set_sensitive(true);
        let mut url = base.clone();
        url.set_path(&format!("{}/api/v1/", url.path().trim_end_matches('/')));
        url.set_query(None);
        let json = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let headers = HeaderMap::from_iter([json, (KEY_HEADER, key)]);
        Ok(Self { url, headers, client: Client::trusted(TIMEOUT)? })
    }

    /// Creates the records one by one. A record that is there already, and says the same, stays as it is, so an import
    /// that was interrupted can be repeated.
    ///
    /// # Errors
    /// The service refuses a record, or has it with another effect or condition.
    pub(super) async fn create(
        &self,
        converted: &Converted,
        err: &mut (dyn Write + Send),
    ) -> anyhow::Result<()> {
        let Converted { rules, policies, .. } = converted;
        let mut counts = Counts::default();
        let outcome = self.create_rules(rules, &mut counts, err).await;
        self.report("rules", &counts, rules.len(), err)?;
        outcome?;
        if policies.is_empty() {
            return Ok(());
        }
        let mut counts = Counts::default();
        let outcome = self.create_policies(policies, &mut counts).await;
        self.report("policies", &counts, policies.len(), err)?;
        outcome
    }

    fn report(
        &self,
        what: &str,
        counts: &Counts,
        all: usize,
        err: &mut (dyn Write + Send),
    ) -> anyhow::Result<()> {
        let Counts { created, existing } = counts;
        let left = all - created - existing;
        writeln!(err, "{created} {what} created, {existing} already there, {left} not imported")?;
        Ok(())
    }

    async fn create_rules(
        &self,
        rules: &[Rule],
        counts: &mut Counts,
        err: &mut (dyn Write + Send),
    ) -> anyhow::Result<()> {
        for rule in rules {
            let Rule { sub, obj, act, .. } = rule;
            let named = || format!("the rule `{sub}, {obj}, {act}`");
            let posted = self.post("resources/policies", rule).await.with_context(named)?;
            match posted {
                StatusCode::CREATED => counts.created += 1,
                _ => {
                    self.has_effect(rule).await.with_context(named)?;
                    counts.existing += 1;
                }
            }
            let done = counts.created + counts.existing;
            if done.is_multiple_of(STEP) {
                writeln!(err, "{done} of {} rules", rules.len())?;
            }
        }
        Ok(())
    }

    /// Makes sure that the stored rule has the effect of `rule`.
    async fn has_effect(&self, rule: &Rule) -> anyhow::Result<()> {
        let tuple = [("sub", &rule.sub), ("obj", &rule.obj), ("act", &rule.act)];
        let mut query: Vec<(&str, &str)> =
            tuple.iter().map(|(name, value)| (*name, value.as_str())).collect();
        query.extend(rule.dom.as_deref().map(|dom| ("dom", dom)));
        let found = self.list("resources/policies", &query).await?;
        // A rule without a domain is in the domain of the tenant, so it is not one for all domains.
        let own = found.iter().filter(|record| rule.dom.is_some() || record["dom"] != "*");
        let effect = serde_json::to_value(rule.effect)?;
        if own.clone().any(|record| record["effect"] != effect) {
            bail!("it is there already with the other effect; delete it, or change the file");
        }
        Ok(())
    }

    async fn create_policies(
        &self,
        policies: &[ImportedPolicy],
        counts: &mut Counts,
    ) -> anyhow::Result<()> {
        for policy in policies {
            let named = || format!("the policy `{}`", policy.name);
            match self.stored(policy).await.with_context(named)? {
                Stored::Same => counts.existing += 1,
                Stored::Absent => {
                    self.post("abac/policies", policy).await.with_context(named)?;
                    counts.created += 1;
                }
            }
        }
        Ok(())
    }

    /// Looks for a stored policy of the same name.
    async fn stored(&self, policy: &ImportedPolicy) -> anyhow::Result<Stored> {
        let found = self.list("abac/policies", &[("resource", &policy.resource)]).await?;
        let Some(own) = found.iter().find(|record| record["name"] == policy.name.as_str()) else {
            return Ok(Stored::Absent);
        };
        let imported = serde_json::to_value(policy)?;
        let differs = ["effect", "priority", "rule_data"]
            .into_iter()
            .find(|member| own[*member] != imported[*member]);
        match differs {
            None => Ok(Stored::Same),
            Some(member) => {
                bail!("it is there already with another `{member}`; delete it, or change the file")
            }
        }
    }

    /// Creates a record and returns the status, which is 201 or 409.
    async fn post(&self, route: &str, record: &impl Serialize) -> anyhow::Result<StatusCode> {
        let (url, body) = (self.url.join(route)?, serde_json::to_vec(record)?);
        let answer = self.client.post(url, self.headers.clone(), body, MAX_ANSWER).await?;
        match answer.status {
            StatusCode::CREATED | StatusCode::CONFLICT => Ok(answer.status),
            status => bail!("{status}: {}", message(&answer.body)),
        }
    }

    /// Returns the records of a list that fit `query`.
    async fn list(&self, route: &str, query: &[(&str, &str)]) -> anyhow::Result<Vec<Value>> {
        let (mut url, mut records) = (self.url.join(route)?, Vec::new());
        url.query_pairs_mut().extend_pairs(query);
        for _ in 0..MAX_PAGES {
            let headers = self.headers.clone();
            let Answer { status, headers, body } =
                self.client.send(Method::GET, url.clone(), headers, None, MAX_PAGE).await?;
            if status != StatusCode::OK {
                bail!("{status}: {}", message(&body));
            }
            records.extend(serde_json::from_slice::<Vec<Value>>(&body)?);
            match next_page(&headers) {
                Some(next) => url = url.join(next)?,
                None => return Ok(records),
            }
        }
        bail!("the service has too many records to compare")
    }
}

/// Returns the URL in `Link: <…>; rel="next"`.
fn next_page(headers: &HeaderMap) -> Option<&str> {
    let link = headers.get(LINK)?.to_str().ok()?;
    link.strip_prefix('<')?.split_once('>').map(|(url, _)| url)
}

/// Returns the message in the body of an error.
fn message(answer: &[u8]) -> String {
    let body = json::parse(answer).ok();
    let message = body.as_ref().and_then(|body| body.get("message")).and_then(Json::as_str);
    // A proxy between us and the service answers something else than JSON.
    message.or_else(|| str::from_utf8(answer).ok()).unwrap_or_default().chars().take(300).collect()
}
