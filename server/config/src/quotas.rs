//! The settings that limit what each tenant stores (`docs/semantics.md`, section 9.9).

use portcullis_model::quota::Quotas;
use portcullis_storage::StoreLimits;

use crate::error::ConfigError;
use crate::units::{SIZE_UNITS, parse_size};
use crate::variables::Variables;

/// The value of a quota without a limit.
const NO_LIMIT: &str = "none";

impl Variables {
    /// Reads the quotas of each tenant and the limit of waiting denials.
    pub(crate) fn store_limits(&self) -> Result<StoreLimits, ConfigError> {
        let standard = Quotas::STANDARD;
        let bytes = format!("a size such as `2GiB` {SIZE_UNITS}, or `none`");
        let size = |name: &'static str, standard| {
            let read = self.parsed(name, &bytes, |text| or_none(text, parse_size));
            read.map(|size| size.unwrap_or(standard))
        };
        let denials = self.positive("WEBHOOK_MAX_WAITING_DENIALS")?;
        Ok(StoreLimits {
            quotas: Quotas {
                webhooks: self.quota("QUOTA_WEBHOOKS", standard.webhooks)?,
                policies: self.quota("QUOTA_POLICIES", standard.policies)?,
                rules: self.quota("QUOTA_RULES", standard.rules)?,
                resources: self.quota("QUOTA_RESOURCES", standard.resources)?,
                service_keys: self.quota("QUOTA_SERVICE_KEYS", standard.service_keys)?,
                resolvers: self.quota("QUOTA_RESOLVERS", standard.resolvers)?,
                entities: self.quota("QUOTA_ENTITIES", standard.entities)?,
                relations: self.quota("QUOTA_RELATIONS", standard.relations)?,
                stored_bytes: size("QUOTA_STORED_BYTES", standard.stored_bytes)?,
                plan_bytes: size("QUOTA_PLAN_BYTES", standard.plan_bytes)?,
            },
            waiting_denials: denials.unwrap_or(StoreLimits::default().waiting_denials),
        })
    }

    fn quota(&self, name: &'static str, standard: Option<u64>) -> Result<Option<u64>, ConfigError> {
        let read = |text: &str| or_none(text, |text| text.parse().ok());
        Ok(self.parsed(name, "a number, or `none`", read)?.unwrap_or(standard))
    }
}

/// Reads a limit, or `none`.
fn or_none(text: &str, read: impl FnOnce(&str) -> Option<u64>) -> Option<Option<u64>> {
    if text == NO_LIMIT { Some(None) } else { read(text).map(Some) }
}
