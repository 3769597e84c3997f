//! Counts of recorded decisions by group (`docs/semantics.md`, section 17.4).

use portcullis_engine::names::names;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::decision::DecisionRecord;
use crate::period::CountPeriod;
use crate::{Timestamp, document, schema};

/// A member of records by which decisions are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum StatsDimension {
    Resource,
    Action,
    Rule,
    Decision,
    Via,
    Domain,
    Subject,
    /// The hour of the decision, in UTC.
    Hour,
    /// The minute of the decision, in UTC.
    Minute,
    /// The least power of two that the microseconds of the decision do not exceed.
    Latency,
}

/// Milliseconds of a minute.
const MINUTE: i64 = 60_000;

impl StatsDimension {
    /// Returns the value of a record.
    pub fn value(self, record: &DecisionRecord) -> String {
        match self {
            Self::Resource => record.resource.clone(),
            Self::Action => record.action.clone(),
            Self::Rule => record.rule.clone(),
            Self::Decision => record.decision.into_str().to_owned(),
            Self::Via => record.via.into_str().to_owned(),
            Self::Domain => record.domain.clone(),
            Self::Subject => record.subject.clone(),
            Self::Hour => CountPeriod::Hour.start(record.time).to_string(),
            Self::Minute => {
                let millis = record.time.millis();
                // The Euclidean remainder is never negative, so instants before the epoch go to the start of their minute.
                Timestamp::from_millis(millis - millis.rem_euclid(MINUTE)).to_string()
            }
            Self::Latency => {
                // A decision of less than a microsecond counts as one.
                record.us.max(1).checked_next_power_of_two().unwrap_or(u32::MAX).to_string()
            }
        }
    }

    /// Reads names with commas between them, each at most once; `None` if the text is something else.
    pub fn parse_list(text: &str) -> Option<Vec<Self>> {
        let mut read = Vec::new();
        for name in text.split(',') {
            // The same member twice would give groups two values of one name.
            let one = name.trim().parse().ok().filter(|one| !read.contains(one))?;
            read.push(one);
        }
        Some(read)
    }

    /// Returns all names, with commas between them.
    pub fn all_names() -> String {
        names::<Self>().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}

/// The decisions of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionGroup {
    /// The values that all decisions of the group have, in the order of the question.
    pub values: Vec<(StatsDimension, String)>,
    pub allow: u64,
    pub deny: u64,
    /// Those of both with an undetermined condition.
    pub undetermined: u64,
}

impl Serialize for DecisionGroup {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // The members depend on the question, so there is no struct for them.
        let mut members = to.serialize_map(None)?;
        for (dimension, value) in &self.values {
            members.serialize_entry(dimension.into_str(), value)?;
        }
        members.serialize_entry("allow", &self.allow)?;
        members.serialize_entry("deny", &self.deny)?;
        members.serialize_entry("undetermined", &self.undetermined)?;
        members.end()
    }
}

/// Counts of decisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecisionStats {
    /// In the order of their values.
    pub groups: Vec<DecisionGroup>,
    /// Whether every decision that was asked for is counted.
    pub complete: bool,
}

document!(DecisionStats => {
    let group = names::<StatsDimension>()
        .fold(schema::record(), |group, name| group.maybe(name, schema::string()))
        .field("allow", schema::integer(0, i64::MAX))
        .field("deny", schema::integer(0, i64::MAX))
        .field("undetermined", schema::integer(0, i64::MAX))
        .about("The members of `group_by`, and the number of decisions that have them");
    schema::record()
        .field("groups", schema::list(group))
        .field("complete", schema::boolean())
        .about("Counts of decisions")
        .example(json!({
            "groups": [
                {"resource": "chart:read", "action": "read", "allow": 812, "deny": 15, "undetermined": 2},
            ],
            "complete": true,
        }))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_known_names_once() {
        let read = StatsDimension::parse_list;
        assert_eq!(read("hour,rule"), Some(vec![StatsDimension::Hour, StatsDimension::Rule]));
        for bad in ["", "resource,", "resource,resource", "tenant", "Resource"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
