//! The address of a client (`docs/semantics.md`, section 8.12).

use std::net::{IpAddr, Ipv6Addr};

use ipnet::IpNet;

/// The proxies whose word about the address of a client counts.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// Returns the address of the client behind `peer`: the peer itself, unless it is a trusted proxy. Otherwise it is the
    /// rightmost address that the proxies name and that is not a trusted proxy. `forwarded` and `x_forwarded_for` are the
    /// values of `Forwarded` (RFC 7239) and `X-Forwarded-For`, in the order in which they were sent.
    ///
    /// A proxy writes one of the two and may pass the other on from the client. If both are there and name different
    /// clients, neither counts.
    pub fn client<'h>(
        &self,
        peer: IpAddr,
        forwarded: impl DoubleEndedIterator<Item = &'h str>,
        x_forwarded_for: impl DoubleEndedIterator<Item = &'h str>,
    ) -> IpAddr {
        // A socket for IPv6 shows an IPv4 peer as `::ffff:192.0.2.7`, which no IPv4 network contains.
        let peer = peer.to_canonical();
        if !self.trust(peer) {
            return peer;
        }
        let by_forwarded = self.rightmost(peer, hops(forwarded).map(forwarded_for));
        let by_x_forwarded_for = self.rightmost(peer, hops(x_forwarded_for).map(node));
        match (by_forwarded, by_x_forwarded_for) {
            (Some(one), Some(other)) if one != other => peer,
            (Some(client), _) | (None, Some(client)) => client,
            (None, None) => peer,
        }
    }

    fn trust(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Returns the first address from the right that is not a trusted proxy. Stops at a hop without an address: the last
    /// proxy before it is all that is known. Returns `None` if there are no hops.
    fn rightmost(
        &self,
        peer: IpAddr,
        hops: impl Iterator<Item = Option<IpAddr>>,
    ) -> Option<IpAddr> {
        let mut hops = hops.peekable();
        hops.peek()?;
        let mut last = peer;
        for hop in hops {
            let Some(address) = hop else { break };
            last = address;
            if !self.trust(address) {
                break;
            }
        }
        Some(last)
    }
}

/// Returns the hops of a header, from the right to the left.
fn hops<'h>(values: impl DoubleEndedIterator<Item = &'h str>) -> impl Iterator<Item = &'h str> {
    values.rev().flat_map(|value| value.rsplit(',')).map(str::trim)
}

/// Returns the address in the parameter `for` of an element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.into_iter().find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    let value = value.trim();
    node(value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value))
}

/// Returns the address of a node: `192.0.2.7`, `192.0.2.7:80`, `2001:db8::7` or `[2001:db8::7]:80`.
fn node(text: &str) -> Option<IpAddr> {
    let address = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0.parse::<Ipv6Addr>().ok()?.into(),
        None => match text.parse() {
            Ok(address) => address,
            // Without brackets only an IPv4 address can have a port.
            Err(_) => IpAddr::V4(text.split_once(':')?.0.parse().ok()?),
        },
    };
    Some(address.to_canonical())
}

/// Returns the address under which limits count `address`: one IPv4 address, or the /64 of an IPv6 address, since a
/// client usually has a whole /64.
pub(crate) fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies() -> TrustedProxies {
        TrustedProxies::new(["10.0.0.0/8", "fd00::/8"].map(|text| text.parse().unwrap()).to_vec())
    }

    #[track_caller]
    fn client(peer: &str, forwarded: &[&str], x_forwarded_for: &[&str], expected: &str) {
        let forwarded = forwarded.iter().copied();
        let x_forwarded_for = x_forwarded_for.iter().copied();
        let found = proxies().client(peer.parse().unwrap(), forwarded, x_forwarded_for);
        assert_eq!(found.to_string(), expected);
    }

    #[test]
    fn only_trusted_proxies_name_clients() {
        client("192.0.2.1", &["for=192.0.2.9"], &["192.0.2.9"], "192.0.2.1");
        client("10.0.0.1", &[], &[], "10.0.0.1");
        client("10.0.0.1", &[], &["192.0.2.9"], "192.0.2.9");
        client("10.0.0.1", &["for=192.0.2.9;proto=https"], &[], "192.0.2.9");
        client("::ffff:10.0.0.1", &[], &["::ffff:192.0.2.9"], "192.0.2.9");
    }

    #[test]
    fn the_rightmost_address_that_is_no_proxy_counts() {
        // The client wrote the first two hops itself.
        client("10.0.0.1", &[], &["203.0.113.1, 10.0.0.7, 192.0.2.9, 10.0.0.2"], "192.0.2.9");
        client("10.0.0.1", &[], &["203.0.113.1", "192.0.2.9", "10.0.0.2"], "192.0.2.9");
        client("10.0.0.1", &[], &["10.0.0.3, 10.0.0.2"], "10.0.0.3");
        let elements = ["for=203.0.113.1, For=\"[2001:db8::9]:4711\"; by=x", "for=\"[fd00::2]\""];
        client("10.0.0.1", &elements, &[], "2001:db8::9");
    }

    #[test]
    fn a_hop_without_an_address_ends_the_search() {
        client("10.0.0.1", &[], &["203.0.113.1, unknown, 10.0.0.2"], "10.0.0.2");
        client("10.0.0.1", &["for=203.0.113.1, for=_hidden"], &[], "10.0.0.1");
        client("10.0.0.1", &["by=192.0.2.9"], &[], "10.0.0.1");
        client("10.0.0.1", &[], &[""], "10.0.0.1");
    }

    #[test]
    fn a_header_that_the_proxy_does_not_write_cannot_choose_the_address() {
        client("10.0.0.1", &["for=203.0.113.66"], &["192.0.2.9"], "10.0.0.1");
        client("10.0.0.1", &["for=192.0.2.9"], &["203.0.113.1, 192.0.2.9"], "192.0.2.9");
    }

    #[test]
    fn nodes_may_have_ports() {
        for (text, expected) in [
            ("192.0.2.7:80", Some("192.0.2.7")),
            ("[2001:db8::7]", Some("2001:db8::7")),
            ("2001:db8::7", Some("2001:db8::7")),
            ("[2001:db8::7", None),
            ("[192.0.2.7]", None),
            ("host:80", None),
        ] {
            assert_eq!(
                node(text).map(|address| address.to_string()).as_deref(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_whole_64_of_ipv6_counts_as_one() {
        for (address, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:3:3:4:5:6", "2001:db8:1:3::"),
        ] {
            assert_eq!(counted(address.parse().unwrap()).to_string(), expected);
        }
    }
}
