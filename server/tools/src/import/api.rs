//! Creates rules through the API of a running Portcullis service.

use std::io::Write;
use std::path::Path;
use std::time::Duration;
use std::{fs, str};

use anyhow::{Context, bail};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use portcullis_config::Variables;
use portcullis_egress::{Answer, Client};
use portcullis_engine::{Json, json};
use url::Url;

use super::rules::Rule;

const KEY_HEADER: HeaderName = HeaderName::from_static("x-service-api-key");
/// The time limit of one request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest answer that is read, in bytes: a record or an error is far smaller.
const MAX_ANSWER: usize = 1 << 20;
/// The number of rules between two lines about the progress.
const STEP: usize = 100;

/// The service that gets the rules.
pub(super) struct Target {
    url: Url,
    headers: HeaderMap,
    client: Client,
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
        let path = format!("{}/api/v1/resources/policies", url.path().trim_end_matches('/'));
        url.set_path(&path);
        let json = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let headers = HeaderMap::from_iter([json, (KEY_HEADER, key)]);
        Ok(Self { url, headers, client: Client::trusted(TIMEOUT)? })
    }

    /// Creates the rules one by one. A rule that already exists stays as it is, so an import that was interrupted can
    /// be repeated.
    pub(super) async fn create(
        &self,
        rules: &[Rule],
        err: &mut (dyn Write + Send),
    ) -> anyhow::Result<()> {
        let (mut created, mut existing) = (0, 0);
        let mut outcome = Ok(());
        for rule in rules {
            match self.post(rule).await {
                Ok(StatusCode::CONFLICT) => existing += 1,
                Ok(_) => created += 1,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
            if (created + existing) % STEP == 0 {
                writeln!(err, "{} of {} rules", created + existing, rules.len())?;
            }
        }
        let left = rules.len() - created - existing;
        writeln!(err, "{created} rules created, {existing} already there, {left} not imported")?;
        outcome
    }

    /// Creates a rule and returns the status, which is 201 or 409.
    async fn post(&self, rule: &Rule) -> anyhow::Result<StatusCode> {
        let Rule { sub, obj, act, .. } = rule;
        let body = serde_json::to_vec(rule)?;
        let posted = self.client.post(self.url.clone(), self.headers.clone(), body, MAX_ANSWER);
        let Answer { status, body, .. } =
            posted.await.with_context(|| format!("the rule `{sub}, {obj}, {act}`"))?;
        match status {
            StatusCode::CREATED | StatusCode::CONFLICT => Ok(status),
            _ => bail!("the rule `{sub}, {obj}, {act}`: {status}: {}", message(&body)),
        }
    }
}

/// Returns the message in the body of an error.
fn message(answer: &[u8]) -> String {
    let body = json::parse(answer).ok();
    let message = body.as_ref().and_then(|body| body.get("message")).and_then(Json::as_str);
    // A proxy between us and the service answers something else than JSON.
    message.or_else(|| str::from_utf8(answer).ok()).unwrap_or_default().chars().take(300).collect()
}
