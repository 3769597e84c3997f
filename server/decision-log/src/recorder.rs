//! Records decisions by the terms of their tenants (`docs/semantics.md`, section 17).

use std::fmt;
use std::sync::Arc;

use ahash::RandomState;
use portcullis_engine::{Effect, TenantFacts, json};
use portcullis_model::decision_log::{DecisionLogSettings, LogMode, WhenFull};
use portcullis_model::input;
use portcullis_storage::encryption::{KeyRing, MAC_BYTES};

use crate::batch::Pending;
use crate::decision::RecordedDecision;
use crate::log::{DecisionLog, is_drawn};
use crate::lost::Lost;
use crate::minimisation::{HashKey, Minimisation};

/// Most tenants with their own terms in memory. Each takes some 500 bytes.
const MAX: usize = 20_000;

/// Records decisions by the terms of their tenants.
pub struct Recorder {
    log: DecisionLog,
    /// Makes the hashes of attributes.
    secret: [u8; 32],
    /// The terms of tenants without their own settings.
    default: RecordingTerms,
    /// The terms of the others. Readers take no lock.
    own: papaya::HashMap<Box<str>, Arc<RecordingTerms>, RandomState>,
}

/// The terms by which the decisions of a tenant are recorded.
#[derive(Debug, Default)]
pub struct RecordingTerms {
    /// The settings as the tenant's plans have them.
    text: Option<Arc<str>>,
    settings: DecisionLogSettings,
    /// `None` if every attribute is kept.
    minimisation: Option<Minimisation>,
}

/// A decision that was given to the log.
#[derive(Debug)]
pub enum Recorded {
    /// The terms leave it out.
    LeftOut,
    /// It is recorded, or will be within 100 ms.
    Kept,
    /// It is recorded once this is written.
    Pending(Pending, WhenFull),
    /// It is lost, which is counted.
    Lost(Lost, WhenFull),
}

impl Recorder {
    /// Returns a recorder into `log`, with a secret that `keys` make.
    pub fn new(log: DecisionLog, keys: &KeyRing) -> Self {
        let mut secret = [0; 32];
        for (half, part) in secret.chunks_exact_mut(MAC_BYTES).zip(0..) {
            half.copy_from_slice(&keys.authenticate(&[b"decision log", &[part]]));
        }
        Self { log, secret, default: RecordingTerms::default(), own: papaya::HashMap::default() }
    }

    /// Returns the log.
    pub fn log(&self) -> &DecisionLog {
        &self.log
    }

    /// Returns the number of tenants with their own terms in memory.
    pub fn entries(&self) -> usize {
        self.own.len()
    }

    /// Calls `use_it` with the terms of `tenant`, whose plans have `facts`.
    pub fn with_terms<T>(
        &self,
        tenant: &str,
        facts: Option<&TenantFacts>,
        use_it: impl FnOnce(&RecordingTerms) -> T,
    ) -> T {
        let Some(text) = facts.and_then(|facts| facts.recording.as_ref()) else {
            return use_it(&self.default);
        };
        let own = self.own.pin();
        if let Some(terms) = own.get(tenant).filter(|terms| terms.text.as_ref() == Some(text)) {
            return use_it(terms);
        }
        let terms = Arc::new(self.compile(tenant, text));
        if own.len() >= MAX {
            // Terms that are forgotten are compiled again when they are needed.
            own.clear();
        }
        own.insert(tenant.into(), Arc::clone(&terms));
        use_it(&terms)
    }

    fn compile(&self, tenant: &str, text: &Arc<str>) -> RecordingTerms {
        let read = json::parse(text.as_bytes())
            .ok()
            .and_then(|json| input::parse(&json, DecisionLogSettings::declare).ok());
        let settings = read.unwrap_or_else(|| {
            tracing::error!(
                tenant,
                "the settings of the decision log cannot be read; nothing is recorded"
            );
            DecisionLogSettings { mode: LogMode::Off, ..DecisionLogSettings::default() }
        });
        let key = HashKey::for_tenant(&self.secret, tenant);
        let treatments = settings.attributes.iter().map(|(path, treatment)| (&**path, *treatment));
        let minimisation = Minimisation::new(key, treatments);
        RecordingTerms { text: Some(Arc::clone(text)), settings, minimisation }
    }

    /// Records `decision` by `terms`.
    pub fn record(
        &self,
        terms: &RecordingTerms,
        decision: &RecordedDecision<'_>,
        undetermined: bool,
    ) -> Recorded {
        let RecordingTerms { settings, minimisation, .. } = terms;
        let differs = decision.shadow.is_some_and(|shadow| shadow.decision != decision.decision);
        // Parity counts each check that another system decided, too.
        let is_compared = differs || decision.expected.is_some();
        let must_be_kept = decision.decision == Effect::Deny || undetermined || is_compared;
        let is_kept = must_be_kept
            || settings.allows.is_whole()
            || is_drawn(decision.id, settings.allows.as_f64());
        let minimisation = minimisation.as_ref();
        match settings.mode {
            LogMode::Off => Recorded::LeftOut,
            _ if !is_kept => {
                self.log.leave_out(decision);
                Recorded::LeftOut
            }
            LogMode::Async => match self.log.append(decision, minimisation) {
                Ok(()) => Recorded::Kept,
                // Whoever does not wait for the disk is not refused because of it.
                Err(cause) => Recorded::Lost(cause, WhenFull::Answer),
            },
            LogMode::Durable => match self.log.append_durably(decision, minimisation) {
                Ok(pending) => Recorded::Pending(pending, settings.full),
                Err(cause) => Recorded::Lost(cause, settings.full),
            },
        }
    }
}

impl RecordingTerms {
    /// Returns whether nothing of the tenant is recorded.
    pub fn are_off(&self) -> bool {
        self.settings.mode == LogMode::Off
    }
}

impl Recorded {
    /// Returns whether there is a record, or will be one unless the disk fails.
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Kept | Self::Pending(..))
    }

    /// Waits until the record is on disk, if somebody demands that. Returns whether there is a record.
    ///
    /// # Errors
    /// No record is on disk, and the tenant refuses decisions without one.
    pub async fn settled(self) -> Result<bool, Lost> {
        let (cause, full) = match self {
            Self::LeftOut => return Ok(false),
            Self::Kept => return Ok(true),
            Self::Lost(cause, full) => (cause, full),
            Self::Pending(pending, full) => match pending.written().await {
                Ok(()) => return Ok(true),
                Err(cause) => (cause, full),
            },
        };
        match full {
            WhenFull::Refuse => Err(cause),
            WhenFull::Answer => Ok(false),
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("log", &self.log).finish_non_exhaustive()
    }
}
