//! Addresses with which tests have wanted truths.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

use super::outcomes::{Demand, agree, for_value};
use super::scope::Scope;
use crate::condition::Predicate;
use crate::value::AttributeValue;

/// The first IPv6 address after those that stand for IPv4 addresses.
const AFTER_MAPPED: Ipv6Addr = Ipv6Addr::new(0, 0, 0, 0, 1, 0, 0, 0);

/// Returns whether an address may meet all demands. Between the bounds of the networks all addresses are alike, so the
/// first address of each interval is tried.
pub(super) fn exist(scope: &Scope<'_>, demands: &[Demand<'_>]) -> bool {
    let mut firsts: Vec<IpAddr> =
        vec![Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into(), AFTER_MAPPED.into()];
    for demand in demands {
        if let Predicate::IpIn(networks) = &demand.test.predicate {
            for network in networks.iter() {
                firsts.push(network.network());
                firsts.extend(after(network));
            }
        }
    }
    firsts.sort_unstable();
    firsts.dedup();
    firsts.iter().any(|address| {
        let text = address.to_string();
        agree(demands, |test| for_value(test, AttributeValue::Text(&text), scope))
    })
}

/// Returns the first address after a network; `None` if it has the last one.
fn after(network: &IpNet) -> Option<IpAddr> {
    match network.broadcast() {
        IpAddr::V4(last) => last.to_bits().checked_add(1).map(|bits| Ipv4Addr::from(bits).into()),
        IpAddr::V6(last) => last.to_bits().checked_add(1).map(|bits| Ipv6Addr::from(bits).into()),
    }
}
