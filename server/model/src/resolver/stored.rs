//! Serde forms of types that have none themselves.

/// A URL as its text.
pub(super) mod url {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use url::Url;

    pub(crate) fn serialize<S: Serializer>(url: &Url, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(url.as_str())
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Url, D::Error> {
        Url::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Limits in the units of a manifest.
pub(super) mod limits {
    use std::time::Duration;

    use portcullis_engine::resolver_contract::Limits;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Written {
        timeout_ms: u64,
        memory_mib: usize,
    }

    pub(crate) fn serialize<S: Serializer>(
        limits: &Limits,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let timeout_ms = u64::try_from(limits.timeout.as_millis()).unwrap_or(u64::MAX);
        Written { timeout_ms, memory_mib: limits.memory_bytes >> 20 }.serialize(serializer)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<Limits, D::Error> {
        let Written { timeout_ms, memory_mib } = Written::deserialize(deserializer)?;
        let timeout = Duration::from_millis(timeout_ms);
        Ok(Limits { timeout, memory_bytes: memory_mib << 20 })
    }
}
