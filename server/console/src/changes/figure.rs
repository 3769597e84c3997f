//! The figure of revisions: a dot for each, on a line of time.

use portcullis_model::revision::RevisionRecord;

/// The width of the figure, and the room at its ends, in units of its own.
const WIDTH: i64 = 1_000;
const MARGIN: i64 = 8;

pub(super) struct Timeline {
    /// The figure in words.
    pub(super) name: String,
    pub(super) width: i64,
    pub(super) dots: Vec<Dot>,
    pub(super) days: Vec<Day>,
}

pub(super) struct Dot {
    pub(super) x: i64,
    pub(super) via: &'static str,
}

pub(super) struct Day {
    pub(super) date: String,
    pub(super) revisions: u64,
    pub(super) records: i64,
}

impl Timeline {
    /// Returns the figure of revisions, which begin with the newest.
    pub(super) fn of(records: &[RevisionRecord]) -> Self {
        let newest = records.first().map(|record| record.at.millis()).unwrap_or_default();
        let oldest = records.last().map(|record| record.at.millis()).unwrap_or_default();
        // A single revision has no span to divide by.
        let span = (newest - oldest).max(1);
        let dots = records.iter().map(|record| Dot {
            x: MARGIN + (record.at.millis() - oldest) * (WIDTH - 2 * MARGIN) / span,
            via: record.via.into_str(),
        });
        // The revisions of a day are beside each other.
        let mut days: Vec<Day> = Vec::new();
        for record in records {
            let date = record.at.to_string().get(..10).unwrap_or_default().to_owned();
            match days.last_mut().filter(|day| day.date == date) {
                Some(day) => {
                    day.revisions += 1;
                    day.records += record.count;
                }
                None => days.push(Day { date, revisions: 1, records: record.count }),
            }
        }
        let ends = (records.first(), records.last());
        let numbers = match ends {
            (Some(last), Some(first)) => format!("{} to {}", first.revision, last.revision),
            _ => "none".to_owned(),
        };
        let changed: i64 = records.iter().map(|record| record.count).sum();
        let name = format!("Revisions {numbers}: {} with {changed} changed records", records.len());
        Self { name, width: WIDTH, dots: dots.collect(), days }
    }
}
