//! The settings of traces, in the variables of OpenTelemetry
//! ([OTLP](https://opentelemetry.io/docs/specs/otel/protocol/exporter/),
//! [SDK](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/)).
//!
//! As OpenTelemetry demands, a value that cannot be used counts as absent, and the log says so. The exceptions are values
//! without which no span could be sent.

use std::str::FromStr;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;
use portcullis_traces::{Batches, Sampler, TraceConfig};
use url::Url;

use crate::error::ConfigError;
use crate::variables::Variables;

/// The path of traces below the common endpoint.
const TRACES_PATH: &str = "v1/traces";

/// The settings of traces, and the values that do not count.
#[derive(Clone, Debug, Default)]
pub struct TraceSettings {
    /// `None` if no traces are sent.
    pub sent: Option<TraceConfig>,
    /// A text for each value that cannot be used.
    pub ignored: Vec<String>,
}

impl Variables {
    /// Returns the settings of traces. They are sent if an endpoint is set.
    ///
    /// # Errors
    /// The endpoint or the protocol cannot be used.
    pub(crate) fn traces(&self) -> Result<TraceSettings, ConfigError> {
        let mut reader = Lenient { variables: self, ignored: Vec::new() };
        let sent = match self.endpoint()? {
            Some(endpoint) if reader.is_wanted() => {
                self.refuse_other_protocols()?;
                Some(reader.config(endpoint))
            }
            _ => None,
        };
        Ok(TraceSettings { sent, ignored: reader.ignored })
    }

    /// Returns the address of traces: the one of traces as it is, or a path below the common one.
    fn endpoint(&self) -> Result<Option<Url>, ConfigError> {
        let expected = "an http or https URL, such as `http://localhost:4318`";
        let own = self.parsed("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", expected, http_url)?;
        if let Some(endpoint) = own {
            return Ok(Some(endpoint));
        }
        let common = self.parsed("OTEL_EXPORTER_OTLP_ENDPOINT", expected, http_url)?;
        Ok(common.map(|mut url| {
            url.set_path(&format!("{}/{TRACES_PATH}", url.path().trim_end_matches('/')));
            url
        }))
    }

    fn refuse_other_protocols(&self) -> Result<(), ConfigError> {
        let expected = "`http/protobuf`, the one protocol that is sent (its port is usually 4318)";
        for name in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
            if self.get(name).is_some() {
                self.parsed(name, expected, |text| (text == "http/protobuf").then_some(()))?;
                // The protocol of traces counts before the common one.
                break;
            }
        }
        Ok(())
    }
}

fn http_url(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// Reads values, and notes those that do not count.
struct Lenient<'v> {
    variables: &'v Variables,
    ignored: Vec<String>,
}

impl Lenient<'_> {
    /// Whether traces are not switched off.
    fn is_wanted(&mut self) -> bool {
        let switch = "`true` or `false`";
        let disabled =
            // OpenTelemetry reads booleans without regard to case.
            self.parsed("OTEL_SDK_DISABLED", switch, |text| text.to_ascii_lowercase().parse().ok());
        let exporter = self.parsed("OTEL_TRACES_EXPORTER", "`otlp` or `none`", |text| match text {
            "otlp" => Some(true),
            "none" => Some(false),
            _ => None,
        });
        // Both are read before, so that the fault of each is noted.
        disabled != Some(true) && exporter != Some(false)
    }

    fn config(&mut self, endpoint: Url) -> TraceConfig {
        let (sampler, is_parent_based) = self.sampler();
        let resource = self.pairs("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let named = self.variables.get("OTEL_SERVICE_NAME").map(str::to_owned);
        // OpenTelemetry: OTEL_SERVICE_NAME counts before the attribute `service.name`.
        let named = named.or_else(|| {
            resource.iter().find(|(name, _)| name == "service.name").map(|(_, name)| name.clone())
        });
        for name in ["OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"] {
            // Read for its fault alone: nothing is compressed.
            self.parsed(name, "`none`", |text| (text == "none").then_some(()));
        }
        TraceConfig {
            endpoint,
            headers: self.headers(),
            timeout: self
                .millis("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
                .or_else(|| self.millis("OTEL_EXPORTER_OTLP_TIMEOUT"))
                .unwrap_or(Duration::from_secs(10)),
            sampler,
            is_parent_based,
            continues_callers: self.continues_callers(),
            service_name: named.unwrap_or_else(|| "portcullis".to_owned()),
            resource,
            batches: self.batches(),
        }
    }

    fn sampler(&mut self) -> (Sampler, bool) {
        let names =
            "`always_on`, `always_off` or `traceidratio`, also with `parentbased_` before it";
        let chosen = self.parsed("OTEL_TRACES_SAMPLER", names, |text| {
            let root = text.strip_prefix("parentbased_");
            let sampler = match root.unwrap_or(text) {
                "always_on" => Sampler::All,
                "always_off" => Sampler::None,
                // OpenTelemetry: the share without an argument.
                "traceidratio" => Sampler::Share(1.0),
                _ => return None,
            };
            Some((sampler, root.is_some()))
        });
        let (sampler, is_parent_based) = chosen.unwrap_or((Sampler::All, true));
        let Sampler::Share(all) = sampler else { return (sampler, is_parent_based) };
        let share = self.parsed("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1", |text| {
            text.parse().ok().filter(|share| (0.0..=1.0).contains(share))
        });
        (Sampler::Share(share.unwrap_or(all)), is_parent_based)
    }

    fn continues_callers(&mut self) -> bool {
        let known = "`tracecontext`, `baggage` or `none`";
        let named = self.parsed("OTEL_PROPAGATORS", known, |text| {
            let names: Vec<_> = text.split(',').map(str::trim).collect();
            let all = names.iter().all(|name| matches!(*name, "tracecontext" | "baggage" | "none"));
            all.then(|| names.contains(&"tracecontext"))
        });
        named.unwrap_or(true)
    }

    fn batches(&mut self) -> Batches {
        let default = Batches::default();
        let most_waiting = self.number("OTEL_BSP_MAX_QUEUE_SIZE").unwrap_or(default.most_waiting);
        let largest = self.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE").unwrap_or(default.largest);
        Batches {
            delay: self.millis("OTEL_BSP_SCHEDULE_DELAY").unwrap_or(default.delay),
            most_waiting,
            // A batch is taken from those that wait.
            largest: largest.min(most_waiting),
        }
    }

    fn headers(&mut self) -> HeaderMap {
        let pairs = self
            .pairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS")
            .or_else(|| self.pairs("OTEL_EXPORTER_OTLP_HEADERS"));
        let headers = pairs.unwrap_or_default().into_iter().filter_map(|(name, value)| {
            let mut value = HeaderValue::from_str(&value).ok()?;
            value.set_sensitive(true);
            Some((HeaderName::from_str(&name).ok()?, value))
        });
        headers.collect()
    }

    /// Returns the pairs of `name=value,…`, decoded. All of them are dropped if one cannot be read. No value is shown: headers
    /// are secrets.
    fn pairs(&mut self, name: &'static str) -> Option<Vec<(String, String)>> {
        let text = self.variables.get(name)?;
        let pairs: Option<Vec<_>> =
            text.split(',').filter(|text| !text.trim().is_empty()).map(pair).collect();
        if pairs.is_none() {
            self.ignored.push(format!("{name}: expected pairs such as `name=value,other=value`"));
        }
        pairs
    }

    fn millis(&mut self, name: &'static str) -> Option<Duration> {
        self.number(name).map(|millis| Duration::from_millis(millis as u64))
    }

    fn number(&mut self, name: &'static str) -> Option<usize> {
        self.parsed(name, "a number of at least 1", |text| {
            text.parse().ok().filter(|number: &usize| *number > 0)
        })
    }

    /// Returns the value of `name`, or notes that it does not count.
    fn parsed<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        self.variables.parsed(name, expected, read).unwrap_or_else(|error| {
            self.ignored.push(error.to_string());
            None
        })
    }
}

/// Parses `name=value`, where the value may have percent-encoded characters.
fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
    Some((name.trim().to_owned(), value.into_owned())).filter(|(name, _)| !name.is_empty())
}
