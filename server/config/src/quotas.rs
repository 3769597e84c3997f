//! The settings that limit what each tenant stores (`docs/semantics.md`, section 9.9).

use portcullis_model::quota::{Quota, Quotas};
use portcullis_storage::StoreLimits;

use crate::error::ConfigError;
use crate::units::{SIZE_UNITS, parse_size};
use crate::variables::Variables;

/// The value of a quota without a limit.
const NO_LIMIT: &str = "none";

impl Variables {
    /// Reads the quotas of each tenant and the limit of waiting denials.
    pub(crate) fn store_limits(&self) -> Result<StoreLimits, ConfigError> {
        let mut quotas = Quotas::STANDARD;
        let size = format!("a size such as `2GiB` {SIZE_UNITS}, or `none`");
        for (name, quota) in [
            ("QUOTA_WEBHOOKS", Quota::Webhooks),
            ("QUOTA_POLICIES", Quota::Policies),
            ("QUOTA_RULES", Quota::Rules),
            ("QUOTA_RESOURCES", Quota::Resources),
            ("QUOTA_SERVICE_KEYS", Quota::ServiceKeys),
            ("QUOTA_RESOLVERS", Quota::Resolvers),
            ("QUOTA_ENTITIES", Quota::Entities),
            ("QUOTA_RELATIONS", Quota::Relations),
            ("QUOTA_STORED_BYTES", Quota::StoredBytes),
            ("QUOTA_PLAN_BYTES", Quota::PlanBytes),
        ] {
            let limit = match quota {
                Quota::StoredBytes | Quota::PlanBytes => {
                    self.parsed(name, &size, |text| or_none(text, parse_size))?
                }
                _ => self.parsed(name, "a number, or `none`", |text| {
                    or_none(text, |text| text.parse().ok())
                })?,
            };
            quotas = quotas.with(quota, limit.unwrap_or(quotas.get(quota)));
        }
        let denials = self.positive("WEBHOOK_MAX_WAITING_DENIALS")?;
        Ok(StoreLimits {
            quotas,
            waiting_denials: denials.unwrap_or(StoreLimits::default().waiting_denials),
        })
    }
}

/// Reads a limit, or `none`.
fn or_none(text: &str, read: impl FnOnce(&str) -> Option<u64>) -> Option<Option<u64>> {
    if text == NO_LIMIT { Some(None) } else { read(text).map(Some) }
}
