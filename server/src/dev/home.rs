//! The sample tenants on the page at `/`.

use portcullis_api::{DevSamples, SampleTenant};
use portcullis_bundle::Bundle;

/// Returns the tenants and their users for the page.
pub(super) fn samples(bundles: &[Bundle], token_url: String) -> DevSamples {
    let tenant = |bundle: &Bundle| SampleTenant {
        id: bundle.tenant.clone(),
        about: bundle.description.as_deref().unwrap_or_default().trim().to_owned(),
        users: bundle.users.iter().map(|user| user.sub.clone()).collect(),
    };
    DevSamples { token_url, tenants: bundles.iter().map(tenant).collect() }
}
