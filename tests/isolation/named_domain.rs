//! The header `X-Domain` on every route: it opens another tenant only to the holder of a token whose admin-domain claim
//! names that tenant.

use serde_json::json;

use super::table::{Access, Kind, Row};
use super::{Credential, Party, in_both_modes, rows};
use crate::support::{MANAGER, NO_ID, Reply, Request};

/// Sends a good request of `row` with these values of the header.
fn send(party: &Party<'_>, row: &Row, id: &str, token: &str, domains: &[&str]) -> Reply {
    let request = party.request(row, id).token(token);
    with_domains(request, domains).send(party.tenant.address)
}

fn with_domains(request: Request, domains: &[&str]) -> Request {
    domains.iter().fold(request, |request, domain| request.header("x-domain", domain))
}

/// The token of a manager of `party` whose admin-domain claim is `adm`.
fn administrator(party: &Party<'_>, adm: &serde_json::Value) -> String {
    party.tenant.token_with("boss", &[MANAGER], &json!({"adm": adm}))
}

fn is_management(row: &Row) -> bool {
    matches!(row.access, Access::Manage(_) | Access::Own(_) | Access::Tokens)
}

#[test]
fn without_the_claim_no_route_serves_another_domain() {
    in_both_modes(|saas, [own, foreign]| {
        for row in rows(saas).filter(|row| is_management(row)) {
            let (mine, theirs) = (own.record(row.kind), foreign.record(row.kind));
            for adm in [json!(null), json!(own.id), json!("somebody"), json!(["south "])] {
                let token = administrator(own, &adm);
                let replies =
                    [&*theirs, &*mine, NO_ID].map(|id| send(own, row, id, &token, &[&foreign.id]));
                for reply in replies {
                    // In `saas` mode there is no such header.
                    let (status, code) =
                        if saas { (400, "BAD_REQUEST") } else { (403, "ACCESS_DENIED") };
                    reply.refused(status, code);
                }
            }
        }
    });
}

#[test]
fn with_the_claim_a_route_serves_the_named_domain_alone() {
    in_both_modes(|saas, [own, foreign]| {
        if saas {
            return;
        }
        for row in rows(saas).filter(|row| is_management(row)) {
            for adm in [json!(["x", foreign.id]), json!("*")] {
                let token = administrator(own, &adm);
                let theirs = foreign.record(row.kind);
                let served = send(own, row, &theirs, &token, &[&foreign.id]);
                assert_eq!(served.status, row.served, "{}: {}", row.route, served.text);
                // A revision is a number, which each tenant has.
                if !matches!(row.kind, Kind::None | Kind::Tuple | Kind::Revision) {
                    let mine = send(own, row, &own.record(row.kind), &token, &[&foreign.id]);
                    mine.refused(404, "NOT_FOUND");
                    // Without the header the claim changes nothing.
                    let theirs = foreign.record(row.kind);
                    send(own, row, &theirs, &token, &[]).refused(404, "NOT_FOUND");
                }
            }
        }
    });
}

#[test]
fn a_faulty_header_is_refused_on_every_route_that_has_a_caller() {
    in_both_modes(|saas, [own, foreign]| {
        for row in rows(saas).filter(|row| row.access != Access::Open) {
            let everywhere = administrator(own, &json!("*"));
            let long = "a".repeat(257);
            let [mine, theirs] = [&*own.id, &*foreign.id];
            for domains in [&[""][..], &["*"], &[&*long], &[mine, theirs], &["", theirs]] {
                let request = with_domains(own.request(row, NO_ID), domains);
                let request = match row.access {
                    Access::Operate => Credential::AdminKey.put_on(request, own, row.access),
                    _ => request.token(&everywhere),
                };
                request.send(own.tenant.address).refused(400, "BAD_REQUEST");
            }
        }
    });
}

#[test]
fn checks_keys_and_the_operator_have_no_such_header() {
    in_both_modes(|saas, [own, foreign]| {
        for row in rows(saas) {
            for domain in [&own.id, &foreign.id] {
                let request = with_domains(own.request(row, NO_ID), &[domain]);
                let credential = match row.access {
                    Access::Check | Access::Search | Access::SearchOthers | Access::Conditions => {
                        Credential::Manager
                    }
                    Access::Manage(_) | Access::Own(_) => Credential::Key,
                    Access::Operate => Credential::AdminKey,
                    Access::Open | Access::Tokens => continue,
                };
                let reply = credential.put_on(request, own, row.access).send(own.tenant.address);
                reply.refused(400, "BAD_REQUEST");
            }
        }
    });
}

#[test]
fn the_header_is_judged_after_the_credential() {
    in_both_modes(|saas, [own, _]| {
        for row in rows(saas).filter(|row| is_management(row)) {
            for credential in [Credential::None, Credential::Malformed] {
                let request = with_domains(own.request(row, NO_ID), &["*"]);
                let reply = credential.put_on(request, own, row.access).send(own.tenant.address);
                reply.refused(401, "UNAUTHENTICATED");
            }
        }
    });
}
