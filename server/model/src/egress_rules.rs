//! Where the service may connect to on behalf of a tenant (`docs/semantics.md`, section 7.2).
//!
//! A tenant chooses the address of a webhook or a key set, and the service stands inside the operator's
//! network: without these rules a registration would reach what only the operator may reach. Refused is
//! whatever is not the public internet, however it is spelled. The egress client judges a name when it
//! resolves it, by the rules in this file.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::{Host, Url};

/// What the operator allows. The default is the strictest: https to the public internet.
#[derive(Clone, Debug, Default)]
pub struct EgressRules {
    /// Whether `http` will do as well as `https`.
    pub allow_http: bool,
    /// Networks that are open although they are not public. One of IPv4 also opens the IPv4-mapped forms.
    pub allow: Vec<IpNet>,
}

impl EgressRules {
    /// Judges a URL that somebody registers: its scheme, its user info, and its host where that is an
    /// address. The `url` crate has read the host as browsers do, so that `0x7f.1`, `2130706433` and
    /// `127。0。0。1` are addresses here.
    ///
    /// # Errors
    /// What is expected instead; the text completes "expected …".
    pub fn check_url(&self, url: &Url) -> Result<(), String> {
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            _ if self.allow_http => return Err("an `https` or `http` URL".to_owned()),
            _ => return Err("an `https` URL".to_owned()),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("a URL without user info".to_owned());
        }
        let address = match url.host() {
            None => return Err("a URL with a host".to_owned()),
            Some(Host::Domain(_)) => return Ok(()),
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
        };
        if self.permits(address) {
            return Ok(());
        }
        Err(format!("a public address, but `{address}` is not public"))
    }

    /// Whether a connection to `address` is allowed: it is public, or the operator opened its network. An
    /// IPv4-mapped address is judged as the IPv4 address that it stands for.
    pub fn permits(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let public = match address {
            IpAddr::V4(address) => !NOT_PUBLIC_V4.iter().any(|net| net.contains(&address)),
            IpAddr::V6(address) => {
                GLOBAL_UNICAST_V6.contains(&address)
                    && !NOT_PUBLIC_V6.iter().any(|net| net.contains(&address))
            }
        };
        public || self.opens(address)
    }

    /// Whether the operator opened the network of `address`.
    pub fn opens(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.allow.iter().any(|net| net.contains(&address))
    }
}

/// What the IANA IPv4 Special-Purpose Address Registry (RFC 6890) does not mark as globally reachable,
/// and multicast.
const NOT_PUBLIC_V4: [Ipv4Net; 15] = [
    // "This network", RFC 791 section 3.2. Many systems take 0.0.0.0 for the machine itself.
    v4([0, 0, 0, 0], 8),
    // Private use, RFC 1918.
    v4([10, 0, 0, 0], 8),
    // Shared address space of carriers and clouds, RFC 6598.
    v4([100, 64, 0, 0], 10),
    // Loopback, RFC 1122 section 3.2.1.3.
    v4([127, 0, 0, 0], 8),
    // Link-local, RFC 3927. Clouds serve their credentials at 169.254.169.254.
    v4([169, 254, 0, 0], 16),
    // Private use, RFC 1918.
    v4([172, 16, 0, 0], 12),
    // IETF protocol assignments, RFC 6890 section 2.1, as a whole: the two rows that are marked reachable,
    // 192.0.0.9 (RFC 7723) and 192.0.0.10 (RFC 8155), are answered by the nearest network, so our own.
    v4([192, 0, 0, 0], 24),
    // Documentation (TEST-NET-1), RFC 5737.
    v4([192, 0, 2, 0], 24),
    // 6to4 relay anycast, deprecated by RFC 7526; also holds 6a44, RFC 6751.
    v4([192, 88, 99, 0], 24),
    // Private use, RFC 1918.
    v4([192, 168, 0, 0], 16),
    // Benchmarking, RFC 2544.
    v4([198, 18, 0, 0], 15),
    // Documentation (TEST-NET-2), RFC 5737.
    v4([198, 51, 100, 0], 24),
    // Documentation (TEST-NET-3), RFC 5737.
    v4([203, 0, 113, 0], 24),
    // Multicast, RFC 5771.
    v4([224, 0, 0, 0], 4),
    // Reserved, RFC 1112 section 4, and the limited broadcast address, RFC 8190.
    v4([240, 0, 0, 0], 4),
];

/// All of IPv6 that IANA hands out as global unicast (IANA IPv6 Address Space registry, RFC 4291 section
/// 2.4). Outside are loopback and every form in `::/8` that embeds an IPv4 address (IPv4-compatible, RFC
/// 4291; NAT64, RFC 6052 and RFC 8215), discard-only (`100::/64`, RFC 6666), segment routing
/// (`5f00::/16`, RFC 9602), unique local (`fc00::/7`, RFC 4193), link-local (`fe80::/10`), site-local
/// (`fec0::/10`, RFC 3879), multicast (`ff00::/8`), and what has no use yet.
const GLOBAL_UNICAST_V6: Ipv6Net = v6([0x2000, 0], 3);

/// What the IANA IPv6 Special-Purpose Address Registry (RFC 6890) does not mark as globally reachable
/// inside of [`GLOBAL_UNICAST_V6`], and the forms that embed an IPv4 address there.
const NOT_PUBLIC_V6: [Ipv6Net; 4] = [
    // IETF protocol assignments, RFC 2928, as a whole: Teredo (2001::/32, RFC 4380) embeds an IPv4
    // address, and the rows that are marked reachable are anycast services and identifiers, not hosts.
    v6([0x2001, 0], 23),
    // Documentation, RFC 3849.
    v6([0x2001, 0xdb8], 32),
    // 6to4, RFC 3056: embeds an IPv4 address.
    v6([0x2002, 0], 16),
    // Documentation, RFC 9637.
    v6([0x3fff, 0], 20),
];

const fn v4([a, b, c, d]: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6([a, b]: [u16; 2], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), prefix)
}

#[cfg(test)]
mod tests;
