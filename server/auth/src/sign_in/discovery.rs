//! The discovery documents of identity providers (OpenID Connect Discovery 1.0, section 4), in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use portcullis_egress::Client;
use portcullis_engine::json::Json;
use portcullis_fairness::{TurnLimits, TurnQueue};
use tokio::time::Instant;
use url::Url;

use crate::keysets::{address_in, fetch_document};

/// The age at which a document is fetched again.
const MAX_AGE: Duration = Duration::from_secs(300);
/// Most documents in memory, of some 2 KiB.
const MAX: usize = 1_000;
/// Documents of one tenant are fetched one after the other: everybody can begin a sign-in.
const FETCHES: TurnLimits = TurnLimits {
    at_once: 8,
    per_tenant: 1,
    pending_per_tenant: 16,
    waiting: 64,
    wait: Some(Duration::from_secs(5)),
    ..TurnLimits::NONE
};

/// The parts of a discovery document that a sign-in needs.
#[derive(Debug)]
pub struct Discovery {
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Url,
    pub(crate) token_endpoint: Url,
    /// The page that signs the person out at the provider.
    pub end_session_endpoint: Option<Url>,
    /// Whether each answer names the provider (RFC 9207).
    pub(crate) names_issuer: bool,
}

impl Discovery {
    fn read(document: &Json<'_>, issuer: &str) -> anyhow::Result<Self> {
        let names_issuer = document.get("authorization_response_iss_parameter_supported");
        Ok(Self {
            issuer: issuer.to_owned(),
            authorization_endpoint: address_in(document, "authorization_endpoint")?,
            token_endpoint: address_in(document, "token_endpoint")?,
            end_session_endpoint: address_in(document, "end_session_endpoint").ok(),
            names_issuer: matches!(names_issuer, Some(Json::Bool(true))),
        })
    }
}

/// The documents that were fetched of late, by issuer.
#[derive(Debug)]
pub(super) struct Discoveries {
    known: Mutex<HashMap<String, (Instant, Arc<Discovery>)>>,
    fetches: TurnQueue,
}

impl Default for Discoveries {
    fn default() -> Self {
        Self { known: Mutex::default(), fetches: TurnQueue::new(FETCHES) }
    }
}

impl Discoveries {
    /// Returns the document of `issuer`, which `client` fetches unless it is in memory.
    pub(super) async fn of(
        &self,
        client: &Client,
        tenant: &str,
        issuer: &str,
    ) -> anyhow::Result<Arc<Discovery>> {
        if let Some(known) = self.find(issuer) {
            return Ok(known);
        }
        let turn = self.fetches.begin(tenant).await;
        let _turn = turn.map_err(|_| anyhow::anyhow!("too many sign-ins begin"))?;
        // Another sign-in may have fetched it meanwhile.
        if let Some(known) = self.find(issuer) {
            return Ok(known);
        }
        let fetched = fetch_document(client, issuer, |document| Discovery::read(document, issuer));
        let fetched = Arc::new(fetched.await?);
        let mut known = self.known.lock();
        if known.len() >= MAX {
            // To forget them all costs only fetches.
            known.clear();
        }
        known.insert(issuer.to_owned(), (Instant::now(), Arc::clone(&fetched)));
        Ok(fetched)
    }

    fn find(&self, issuer: &str) -> Option<Arc<Discovery>> {
        let known = self.known.lock();
        let (since, discovery) = known.get(issuer)?;
        (since.elapsed() < MAX_AGE).then(|| Arc::clone(discovery))
    }
}
