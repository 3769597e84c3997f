//! `network.zone`: the first zone whose networks hold `user.ip`.
//!
//! Configuration: `zones` as `clinic=10.20.0.0/16,2001:db8:20::/48; guests=10.99.0.0/16`. An address in none of them is
//! in no zone, which is an answer: the attribute is absent. Without an address there is no answer: a policy that
//! forbids is then not switched off, whatever its `if_missing` says.

use std::net::IpAddr;

use portcullis_guest_sdk::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Error, Host, Kind, Request, Resolution,
    Resolver, Value, export_resolver,
};

/// The resolver.
pub struct NetworkZone;

impl Resolver for NetworkZone {
    fn describe() -> Descriptor {
        Descriptor {
            inputs: vec!["user.ip".to_owned()],
            // The zones change with the configuration only, and then nothing cached is used any more.
            attributes: vec![AttributeSpec::new("zone", Kind::Text, 3_600_000)],
            config_keys: vec![ConfigKey::required("zones")],
            ..Descriptor::new("network-zone", "1.0.0")
        }
    }

    fn resolve(request: &Request, host: &impl Host) -> Result<Resolution, Error> {
        let address = request.user.iter().find(|input| input.name == "ip");
        let Some(Value::Text(text)) = address.map(|input| &input.value) else {
            return Err(Error::Invalid("`user.ip` is missing, or is no string".to_owned()));
        };
        let address: IpAddr = text
            .parse()
            .map_err(|_| Error::Invalid(format!("`user.ip` is no address: `{text}`")))?;
        match zone(&host.config("zones").unwrap_or_default(), address)? {
            Some(zone) => Ok(Attribute::new("zone", Value::Text(zone)).into()),
            None => Ok(Resolution::new(vec![], vec!["zone".to_owned()])),
        }
    }
}

export_resolver!(NetworkZone);

/// The first zone that has the address. All of them are read: a mistake in the last one is not found only when
/// somebody gets that far.
fn zone(zones: &str, address: IpAddr) -> Result<Option<String>, Error> {
    let mut found = None;
    for zone in zones.split(';') {
        let (name, networks) = zone.split_once('=').ok_or_else(|| unclear(zone))?;
        for network in networks.split(',') {
            let network = Network::parse(network.trim()).ok_or_else(|| unclear(network))?;
            if found.is_none() && network.holds(address) {
                found = Some(name.trim().to_owned());
            }
        }
    }
    Ok(found)
}

fn unclear(text: &str) -> Error {
    Error::Internal(format!("`zones`: expected `name=network,…; …`, not `{}`", text.trim()))
}

/// The first bits of an address, as those of IPv6: IPv4 is mapped into it, so that `::ffff:10.0.0.1` is `10.0.0.1`.
struct Network {
    bits: u128,
    mask: u128,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        let (length, width): (u32, u32) =
            (length.parse().ok()?, if address.is_ipv4() { 32 } else { 128 });
        let mask = u128::MAX.checked_shl(width.checked_sub(length)?).unwrap_or(0);
        Some(Self { bits: bits(address) & mask, mask })
    }

    fn holds(&self, address: IpAddr) -> bool {
        bits(address) & self.mask == self.bits
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_guest_sdk::Input;
    use portcullis_guest_sdk::testing::{MockHost, request};

    use super::*;

    const ZONES: &str =
        "clinic = 10.20.0.0/16, 2001:db8:20::/48; lab=10.20.30.0/24,192.0.2.7/32; world=0.0.0.0/0";

    fn resolve(zones: &str, ip: Value) -> Result<Resolution, Error> {
        let user = vec![Input { name: "ip".to_owned(), value: ip }];
        let host = MockHost::new().config("zones", zones);
        NetworkZone::resolve(&Request { user, ..request(&["zone"]) }, &host)
    }

    #[test]
    fn the_first_zone_that_holds_the_address_is_answered() {
        for (ip, expected) in [
            ("10.20.0.0", "clinic"),
            ("10.20.30.1", "clinic"),
            ("::ffff:10.20.255.255", "clinic"),
            ("2001:db8:20:ffff::1", "clinic"),
            ("192.0.2.7", "lab"),
            ("192.0.2.6", "world"),
            ("10.21.0.0", "world"),
        ] {
            let answer = resolve(ZONES, Value::Text(ip.to_owned()));
            let zone = Attribute::new("zone", Value::Text(expected.to_owned()));
            assert_eq!(answer, Ok(zone.into()), "{ip}");
        }
    }

    #[test]
    fn an_address_of_no_zone_has_none_and_what_is_no_address_has_no_answer() {
        let answer = resolve(ZONES, Value::Text("2001:db8:21::".to_owned())).unwrap();
        assert_eq!((answer.attributes, answer.absent), (vec![], vec!["zone".to_owned()]));
        let odd = ["", "10.20.0", "10.20.0.0/16", "clinic"];
        for value in
            odd.map(|text| Value::Text(text.to_owned())).into_iter().chain([Value::Number(1.0)])
        {
            assert!(matches!(resolve(ZONES, value), Err(Error::Invalid(_))));
        }
        let host = MockHost::new().config("zones", ZONES);
        let nothing = NetworkZone::resolve(&request(&["zone"]), &host);
        assert_eq!(
            nothing,
            Err(Error::Invalid("`user.ip` is missing, or is no string".to_owned()))
        );
    }

    #[test]
    fn a_mistake_in_any_zone_is_named() {
        for (zones, named) in [
            ("clinic=10.0.0.0/8; lab", "lab"),
            ("clinic=10.0.0.0/8; lab=10.0.0.0/33", "10.0.0.0/33"),
            ("clinic=10.0.0.0/8, lab", "lab"),
            ("", ""),
        ] {
            let Err(Error::Internal(why)) = resolve(zones, Value::Text("10.1.1.1".to_owned()))
            else {
                panic!("`{zones}` is refused");
            };
            assert!(why.ends_with(&format!("not `{named}`")), "{why}");
        }
    }
}
