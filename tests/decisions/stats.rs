//! Statistics about the time of decisions, and how long each took.

use super::{listed, read, settings, tenant_of};
use crate::support::is_timestamp;

#[test]
fn decisions_are_counted_by_minute_and_by_the_power_of_two_of_their_microseconds() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    for subject in ["alice", "bob", "carol"] {
        tenant.check(&read(subject)).is(200);
    }
    listed(&tenant, "", 3);
    let path = "/api/v1/decisions/stats?group_by=minute,latency";
    let groups = tenant.get(path).is(200).json()["groups"].clone();
    let groups = groups.as_array().expect("groups");
    for group in groups {
        let minute = group["minute"].as_str().expect("a minute");
        assert!(is_timestamp(minute) && minute.ends_with(":00.000Z"), "{group}");
        let latency = group["latency"].as_str().and_then(|text| text.parse::<u64>().ok());
        assert!(latency.is_some_and(u64::is_power_of_two), "{group}");
    }
    let denied = groups.iter().filter_map(|group| group["deny"].as_u64()).sum::<u64>();
    assert_eq!(denied, 3, "{groups:?}");
}
