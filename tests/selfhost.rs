//! Behaviour of `selfhost` mode alone, where every domain is a tenant.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "all of it is test code")]

mod denial_load;
mod doctor;
mod domains;
mod egress;
mod history_kills;
mod kills;
mod managed_domain;
mod measurements;
mod record_kills;
mod single_tenant;
mod sizes;
mod upgrade;

use crate::support::{Request, Tenant};

#[test]
fn the_operators_routes_are_unknown() {
    let tenant = Tenant::new();
    for route in [
        "GET /admin/tenants",
        "POST /admin/tenants",
        "GET /admin/tenants/x/identity-providers",
        "DELETE /admin/tenants/x/identity-providers/y",
    ] {
        let bare = Request::new(route);
        let managing = tenant.managing(route);
        let admin = bare.clone().header("x-admin-api-key", "0123456789abcdef0123456789abcdef");
        for request in [bare, managing, admin] {
            tenant.send(&request).refused(404, "NOT_FOUND");
        }
    }
}
