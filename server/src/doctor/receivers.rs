//! The names of the receivers of events. A webhook belongs to a tenant, so that a bad name is a warning.

use std::collections::BTreeSet;
use std::time::Duration;

use portcullis_model::egress_rules::EgressRules;
use portcullis_storage::{Store, StoreError, tenants, webhooks};
use tokio::net::lookup_host;
use tokio::time::timeout;
use url::Url;

use super::report::Report;

const ABOUT: &str = "webhooks";
/// The most tenants whose webhooks are looked at.
const TENANTS: i64 = 1_000;
/// The most hosts that are looked up.
const HOSTS: usize = 50;
/// The longest wait for the addresses of a name.
const WAIT: Duration = Duration::from_secs(5);

/// Looks up the host of each webhook.
pub(super) async fn examine(store: &Store, rules: &EgressRules, report: &mut Report) {
    let hosts = match hosts(store).await {
        Ok(hosts) => hosts,
        Err(fault) => return report.wrong(ABOUT, format!("cannot read them: {fault}")),
    };
    let number = hosts.len();
    let mut bad = 0;
    for host in hosts.into_iter().take(HOSTS) {
        if let Err(fault) = judge(&host, rules).await {
            bad += 1;
            report.warning(ABOUT, format!("`{}`: {fault}", host.host_str().unwrap_or_default()));
        }
    }
    if bad == 0 {
        report.fine(ABOUT, format!("{} of {number} hosts have addresses", number.min(HOSTS)));
    }
}

/// Returns the scheme and the host of each webhook, without the rest of its URL, which may be a secret.
async fn hosts(store: &Store) -> Result<BTreeSet<Url>, StoreError> {
    let tenants = store.read_all(async |tx| tenants::list_every(tx, "", TENANTS).await).await?;
    let mut hosts = BTreeSet::new();
    for tenant in tenants {
        let found = store.read(&tenant.id, async |tx| webhooks::all(tx).await).await?;
        hosts.extend(found.iter().filter_map(|webhook| host(&webhook.url)));
    }
    Ok(hosts)
}

fn host(url: &str) -> Option<Url> {
    Url::parse(&Url::parse(url).ok()?.origin().ascii_serialization()).ok()
}

/// Returns the reason why no event reaches a host.
async fn judge(host: &Url, rules: &EgressRules) -> Result<(), String> {
    rules.check_url(host).map_err(|expected| format!("expected {expected}"))?;
    let target = (host.host_str().unwrap_or_default(), host.port_or_known_default().unwrap_or(443));
    let found = match timeout(WAIT, lookup_host(target)).await {
        Ok(found) => found.map_err(|fault| format!("the name has no address: {fault}"))?,
        Err(_) => return Err(format!("no name server answers within {} s", WAIT.as_secs())),
    };
    match found.into_iter().find(|address| !rules.permits(address.ip())) {
        Some(address) => Err(format!("{} is not allowed: see EGRESS_ALLOW_CIDRS", address.ip())),
        None => Ok(()),
    }
}
