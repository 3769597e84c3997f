//! Shares that one replica revokes, and another one must not allow any more.

use serde_json::json;

use super::{ROUNDS, tenant_at, two_replicas};
use crate::once::min_entities::{demand, revision, share};
use crate::support::routes::CHECKS;

#[test]
fn a_revoked_share_never_allows_at_the_other_replica_if_the_check_demands_it() {
    let replicas = two_replicas();
    let tenants = tenant_at(&replicas);
    share(&tenants[0]);
    // The other replica has a plan from before the first entity.
    assert_eq!(demand(&tenants[1], CHECKS[0], "0").is(200).text_of("decision"), "deny");
    let plan = "/api/v1/entities/document/plan";
    tenants[0].manage(format!("PUT {plan}"), &json!({})).is(201);
    for (round, (member, decision)) in
        [("add", "allow"), ("remove", "deny")].into_iter().cycle().take(2 * ROUNDS).enumerate()
    {
        let (writer, reader) = (&tenants[round % 3 / 2], &tenants[1 - round % 3 / 2]);
        let change = json!({member: {"readers": ["ann"]}});
        let written = writer.manage(format!("PATCH {plan}"), &change).is(200);
        let at = revision(&written).expect("a revision");
        let check = demand(reader, CHECKS[0], &at.to_string()).is(200);
        assert_eq!(check.text_of("decision"), decision, "round {round}");
        assert_eq!(revision(&check), Some(at));
    }
}
