//! Calls of a running service.

mod event_reader;
mod refusal;

use std::time::Duration;

use anyhow::Context;
use http::header::{ACCEPT, CONTENT_TYPE, LINK};
use http::{HeaderMap, HeaderValue, Method};
use portcullis_config::{CredentialHeader, GivenCredential, Variables};
use portcullis_egress::multipart::Form;
use portcullis_egress::{Answer, Client, RequestError};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use crate::service_url::service_url;
use event_reader::EventReader;
pub(crate) use refusal::{
    Call, ListedLines, NAME_DOMAIN, is_conflict, lacks_domain, may_not, refusal,
};

/// The header with the number of replicas whose decisions an answer lacks.
const MISSING_REPLICAS: &str = "x-missing-replicas";

/// The most pages of a list.
const MAX_PAGES: usize = 1_000;

/// The service that a command calls, and the credential.
#[derive(Debug, clap::Args)]
pub(crate) struct ServiceArguments {
    /// The URL of the service.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:8080",
        value_parser = service_url
    )]
    url: Url,
    /// The token of a manager; better in the variable TOKEN, because other users of the machine see arguments.
    #[arg(long, conflicts_with = "key")]
    token: Option<String>,
    /// A service key; better in the variable SERVICE_API_KEY.
    #[arg(long)]
    key: Option<String>,
}

/// The limits of one request.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    pub(crate) time: Duration,
    /// The largest answer that is read, in bytes.
    pub(crate) answer: usize,
}

impl CallLimits {
    /// An apply may compile resolvers, which takes up to 30 s each; an export has 256 MiB of texts at
    /// most, and their quotes and names beside them.
    pub const CONTENT: Self = Self { time: Duration::from_secs(300), answer: 1 << 30 };
}

/// A running service, and the credential for it.
pub struct Service {
    pub(crate) base: Url,
    credential: CredentialHeader,
    client: Client,
    max_answer: usize,
}

impl Service {
    /// Returns the service that the arguments name, with the credential of the arguments or the variables.
    ///
    /// # Errors
    /// There is no credential.
    pub(crate) fn new(arguments: &ServiceArguments, variables: &Variables) -> anyhow::Result<Self> {
        let ServiceArguments { url, token, key } = arguments;
        let given = GivenCredential { token: token.as_deref(), key: key.as_deref() };
        let credential = variables.manager_credential(given)?;
        Self::with_credential(url, credential, CallLimits::CONTENT)
    }

    /// Does the same for a command whose changes have the exit code of a setting that is missing: here that is an error of the
    /// command.
    pub(crate) fn for_changes(
        arguments: &ServiceArguments,
        variables: &Variables,
    ) -> anyhow::Result<Self> {
        Self::new(arguments, variables).map_err(|error| anyhow::anyhow!("{error:#}"))
    }

    /// Returns the service at `base`, which may end with a path. Each request has these limits.
    ///
    /// # Errors
    /// There is no client for HTTP.
    pub fn with_credential(
        base: &Url,
        credential: CredentialHeader,
        limits: CallLimits,
    ) -> anyhow::Result<Self> {
        let CallLimits { time, answer: max_answer } = limits;
        Ok(Self { base: base.clone(), credential, client: Client::trusted(time)?, max_answer })
    }

    /// Returns the URL of a route of `/api/v1`, such as `export`.
    pub(crate) fn route(&self, route: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        // The base may have a path of its own, behind which a proxy has the service.
        url.set_path(&format!("{}/api/v1/{route}", self.base.path().trim_end_matches('/')));
        url.set_query(None);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// Returns the answer to a request, whatever its status is.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: Url,
        body: Option<Vec<u8>>,
    ) -> anyhow::Result<Answer> {
        let json = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let headers = HeaderMap::from_iter([json, self.credential.clone()]);
        self.received(self.client.send(method, url, headers, body, self.max_answer).await)
    }

    /// Returns the answer to a form for a route, or for its record `id`.
    ///
    /// # Errors
    /// The service gives no answer, or refuses the call.
    pub(crate) async fn send_form(
        &self,
        method: Method,
        route: &'static str,
        id: Option<&str>,
        form: Form,
    ) -> anyhow::Result<Answer> {
        let path = id.map_or_else(|| route.to_owned(), |id| format!("{route}/{id}"));
        let (url, headers) =
            // The client sets the type of the content, because it chooses the boundary of the form.
            (self.route(&path, &[]), HeaderMap::from_iter([self.credential.clone()]));
        let sent = self.client.send_form(method.clone(), url, headers, form, self.max_answer).await;
        self.accepted(method, route, self.received(sent)?)
    }

    /// Returns the answer that the service gave.
    pub(crate) fn received(&self, answer: Result<Answer, RequestError>) -> anyhow::Result<Answer> {
        let answer = answer.with_context(|| {
            format!("`{}` gives no answer; is the service running there?", self.base)
        })?;
        anyhow::ensure!(
            // The client cuts the body at the limit, so a body of this length may be incomplete.
            answer.body.len() < self.max_answer,
            "the answer of `{}` is larger than {} bytes",
            self.base,
            self.max_answer
        );
        Ok(answer)
    }

    /// Returns the answer to a call, unless it refuses the call.
    fn accepted(
        &self,
        method: Method,
        route: &'static str,
        answer: Answer,
    ) -> anyhow::Result<Answer> {
        match answer.status.is_success() {
            true => Ok(answer),
            false => Err(refusal(&Call { method, ..Call::get(&self.base, route) }, &answer)),
        }
    }

    /// Returns the answer to a call of a route, whose `url` may have more than its name.
    ///
    /// # Errors
    /// The service gives no answer, or refuses the call.
    async fn call(
        &self,
        method: Method,
        route: &'static str,
        url: Url,
        body: Option<Vec<u8>>,
    ) -> anyhow::Result<Answer> {
        let answer = self.send(method.clone(), url, body).await?;
        self.accepted(method, route, answer)
    }

    /// Returns the body of the answer to a `GET`.
    pub(crate) async fn get(
        &self,
        route: &'static str,
        query: &[(&str, &str)],
    ) -> anyhow::Result<Vec<u8>> {
        Ok(self.call(Method::GET, route, self.route(route, query), None).await?.body)
    }

    /// Returns the answer to a `POST` of a question, which changes nothing.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        route: &'static str,
        question: &Value,
    ) -> anyhow::Result<T> {
        let body = serde_json::to_vec(question)?;
        let url = self.route(route, &[]);
        let answer = self.call(Method::POST, route, url, Some(body)).await?;
        parsed(&answer, &Method::POST, route)
    }

    /// Passes each event of the answer to a `POST` of a question, which changes nothing, to `take`. All come on one connection,
    /// so that one replica sends them.
    pub(crate) async fn post_for_events<T: DeserializeOwned>(
        &self,
        route: &'static str,
        question: &Value,
        mut take: impl FnMut(T),
    ) -> anyhow::Result<()> {
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("text/event-stream")),
            self.credential.clone(),
        ];
        let (url, body) = (self.route(route, &[]), serde_json::to_vec(question)?);
        let (mut events, mut wrong) = (EventReader::default(), None);
        let headers = HeaderMap::from_iter(headers);
        let most = self.max_answer;
        let answer = self.client.send_for_pieces(Method::POST, url, headers, body, most, |piece| {
            events.add(piece, |data| match serde_json::from_slice(data) {
                Ok(event) => take(event),
                // The closure cannot end the answer, so the error waits until everything has arrived.
                Err(error) => wrong = Some(error),
            });
        });
        let answer = answer.await.with_context(|| {
            format!("`{}` gives no whole answer; is the service running there?", self.base)
        })?;
        // The body of a refusal is no event either, so that its error goes first.
        self.accepted(Method::POST, route, answer)?;
        let wrong = wrong.map_or(Ok(()), Err);
        wrong.with_context(|| format!("the answer to POST /api/v1/{route}"))
    }

    /// Returns the answer to a `DELETE` of what `query` selects in a list.
    pub(crate) async fn delete<T: DeserializeOwned>(
        &self,
        list: &'static str,
        query: &[(&str, &str)],
    ) -> anyhow::Result<T> {
        let answer = self.call(Method::DELETE, list, self.route(list, query), None).await?;
        parsed(&answer, &Method::DELETE, list)
    }

    /// Returns the record `id` of a list.
    pub(crate) async fn record<T: DeserializeOwned>(
        &self,
        list: &'static str,
        id: &str,
    ) -> anyhow::Result<T> {
        let url = self.route(&format!("{list}/{id}"), &[]);
        let answer = self.call(Method::GET, list, url, None).await?;
        serde_json::from_slice(&answer.body).with_context(|| format!("a record of `{list}`"))
    }

    /// Passes each page of a list to `take`, until it wants no more. Returns whether it got all of them, and every replica
    /// gave what it has.
    pub(crate) async fn each_page(
        &self,
        route: &'static str,
        query: &[(&str, String)],
        mut take: impl FnMut(Vec<Value>) -> anyhow::Result<bool>,
    ) -> anyhow::Result<bool> {
        let query: Vec<_> = query.iter().map(|(name, value)| (*name, &**value)).collect();
        let (mut url, mut is_whole) = (self.route(route, &query), true);
        loop {
            let answer = self.call(Method::GET, route, url.clone(), None).await?;
            let page = parsed(&answer, &Method::GET, route)?;
            is_whole &= !answer.headers.contains_key(MISSING_REPLICAS);
            let wants_more = take(page)?;
            match next_page(&answer.headers) {
                None => return Ok(is_whole),
                // What the reader left unread is missing, though it wants no more.
                Some(_) if !wants_more => return Ok(false),
                // The link of the service may be relative.
                Some(next) => url = url.join(next)?,
            }
        }
    }

    /// Returns the records of a list.
    pub(crate) async fn list(&self, route: &'static str) -> anyhow::Result<Vec<Value>> {
        self.list_of(route, &[]).await
    }

    /// Returns the records of a list that `query` selects.
    pub(crate) async fn list_of(
        &self,
        route: &'static str,
        query: &[(&str, String)],
    ) -> anyhow::Result<Vec<Value>> {
        let (mut records, mut pages) = (Vec::new(), 0);
        let listed = self.each_page(route, query, |page| {
            pages += 1;
            let base = &self.base;
            anyhow::ensure!(
                pages <= MAX_PAGES,
                "`{base}` has more than {MAX_PAGES} pages of {route}"
            );
            records.extend(page);
            Ok(true)
        });
        listed.await?;
        Ok(records)
    }
}

/// Reads the body of the answer to a call of a route.
fn parsed<T: DeserializeOwned>(answer: &Answer, method: &Method, route: &str) -> anyhow::Result<T> {
    serde_json::from_slice(&answer.body)
        .with_context(|| format!("the answer to {method} /api/v1/{route}"))
}

/// Returns the URL in `Link: <…>; rel="next"`.
fn next_page(headers: &HeaderMap) -> Option<&str> {
    let link = headers.get(LINK)?.to_str().ok()?;
    // The service sends one link only, which is the one to the next page.
    link.strip_prefix('<')?.split_once('>').map(|(url, _)| url)
}
