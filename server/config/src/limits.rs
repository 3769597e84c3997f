//! The settings of the limits of callers (`docs/semantics.md`, section 8.12).

use portcullis_limits::{ClassCapacities, LimitConfig, Rate, RateSettings, ScopeRates};

use crate::error::ConfigError;
use crate::variables::Variables;

/// Most requests of one class at a time. More than the connections of the service could send are no limit.
const MAX_PLACES: u32 = 1_000_000;
/// Least memory for answers, in bytes: with less, a tenant could not have an answer beyond what needs no charge.
const LEAST_ANSWER_MEMORY: u64 = 256 << 10;

impl Variables {
    /// Returns the limits of callers.
    pub fn limits(&self) -> Result<LimitConfig, ConfigError> {
        let default = LimitConfig::default();
        let failures =
            self.parsed("RATE_LIMIT_FAILURES", "a rate such as `60/m`, or `off`", |text| {
                if text == "off" { Some(None) } else { Rate::parse(text).map(Some) }
            })?;
        let answer_memory = self.size_from("ANSWER_MEMORY", LEAST_ANSWER_MEMORY)?;
        Ok(LimitConfig {
            answer_memory: answer_memory.unwrap_or(default.answer_memory),
            rates: RateSettings {
                checks: self.rates("RATE_LIMIT_CHECKS")?,
                reads: self.rates("RATE_LIMIT_READS")?,
                writes: self.rates("RATE_LIMIT_WRITES")?,
            },
            failures: failures.unwrap_or(default.failures),
            trusted_proxies: self.networks("TRUSTED_PROXIES")?,
            capacities: ClassCapacities {
                checks: self.places("MAX_CHECKS", default.capacities.checks)?,
                management: self.places("MAX_MANAGEMENT", default.capacities.management)?,
                uploads: self.places("MAX_UPLOADS", default.capacities.uploads)?,
            },
        })
    }

    fn places(&self, name: &'static str, default: u32) -> Result<u32, ConfigError> {
        Ok(self.number(name, 1..=MAX_PLACES)?.unwrap_or(default))
    }

    fn rates(&self, name: &'static str) -> Result<ScopeRates, ConfigError> {
        let expected = "rates such as `tenant=1000/s,credential=100/s,address=100/s`, or `off`";
        Ok(self.parsed(name, expected, parse_rates)?.unwrap_or_default())
    }
}

/// Parses `<scope>=<rate>` with commas between them, each scope at most once, or `off`.
fn parse_rates(text: &str) -> Option<ScopeRates> {
    let mut rates = ScopeRates::default();
    if text == "off" {
        return Some(rates);
    }
    for part in text.split(',') {
        let (scope, rate) = part.trim().split_once('=')?;
        let of_scope = match scope {
            "tenant" => &mut rates.tenant,
            "credential" => &mut rates.credential,
            "address" => &mut rates.address,
            _ => return None,
        };
        // The scope was there before.
        if of_scope.replace(Rate::parse(rate)?).is_some() {
            return None;
        }
    }
    Some(rates)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(entries: &[(&str, &str)]) -> Result<LimitConfig, String> {
        let entries = entries.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Variables(entries.collect()).limits().map_err(|error| error.to_string())
    }

    #[test]
    fn only_failures_are_limited_by_default() {
        let limits = limits(&[]).unwrap();
        assert_eq!(limits.rates, RateSettings::default());
        assert_eq!(limits.failures, Rate::parse("60/m"));
        assert!(limits.trusted_proxies.is_empty());
        assert_eq!(limits.answer_memory, 128 << 20);
        assert_eq!(
            limits.capacities,
            ClassCapacities { checks: 1_024, management: 64, uploads: 16 }
        );
    }

    #[test]
    fn a_rate_names_its_scope() {
        let limits = limits(&[
            ("RATE_LIMIT_CHECKS", "tenant=1000/s, credential=60/m"),
            ("RATE_LIMIT_WRITES", "address=5/h"),
            ("RATE_LIMIT_READS", "off"),
            ("RATE_LIMIT_FAILURES", "off"),
            ("TRUSTED_PROXIES", "10.0.0.0/8, 192.168.1.7"),
            ("MAX_UPLOADS", "2"),
            ("ANSWER_MEMORY", "1MiB"),
        ])
        .unwrap();
        let expected = RateSettings {
            checks: ScopeRates {
                tenant: Rate::parse("1000/s"),
                credential: Rate::parse("60/m"),
                address: None,
            },
            writes: ScopeRates { address: Rate::parse("5/h"), ..ScopeRates::default() },
            ..RateSettings::default()
        };
        assert_eq!((limits.rates, limits.failures), (expected, None));
        assert_eq!(limits.trusted_proxies.len(), 2);
        assert_eq!((limits.capacities.uploads, limits.answer_memory), (2, 1 << 20));
    }

    #[test]
    fn a_bad_limit_is_named_in_one_line() {
        for (name, value, expected) in [
            ("RATE_LIMIT_CHECKS", "1000/s", "expected rates such as"),
            ("RATE_LIMIT_READS", "tenant=5/s,tenant=6/s", "expected rates such as"),
            ("RATE_LIMIT_WRITES", "domain=5/s", "expected rates such as"),
            ("RATE_LIMIT_FAILURES", "60", "expected a rate such as `60/m`, or `off`"),
            ("TRUSTED_PROXIES", "10.0.0.1/8", "expected networks such as"),
            ("MAX_CHECKS", "0", "expected a number from 1 to 1000000"),
            (
                "ANSWER_MEMORY",
                "255KiB",
                "expected a size of at least `256KiB` (units: KiB, MiB, GiB)",
            ),
        ] {
            let error = limits(&[(name, value)]).unwrap_err();
            assert!(error.starts_with(name) && error.contains(expected), "{error}");
            assert!(error.ends_with(&format!("not `{value}`")), "{error}");
        }
    }
}
