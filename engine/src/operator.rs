//! The operators of conditions and their meaning (`docs/semantics.md`, section 4.5).

use std::cmp::Ordering;
use std::net::IpAddr;

use ipnet::IpNet;

use crate::value::AttributeValue;

/// An operator that compares two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "`docs/semantics.md`, section 4.5, says what each name means")]
pub enum Operator {
    Eq,
    Ne,
    Lt,
    Lte,
    Gt,
    Gte,
    In,
    NotIn,
    Contains,
    StartsWith,
    EndsWith,
    Before,
    After,
}

/// Every valid name of an operator, for an error message.
pub const OPERATOR_NAMES: &str = "`eq`, `ne`, `lt`, `lte`, `gt`, `gte`, `in`, `not_in`, `contains`, \
    `starts_with`, `ends_with`, `matches`, `before`, `after`, `during`, `ip_in` or `exists`";

impl Operator {
    /// Returns the name in a condition tree.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::In => "in",
            Self::NotIn => "not_in",
            Self::Contains => "contains",
            Self::StartsWith => "starts_with",
            Self::EndsWith => "ends_with",
            Self::Before => "before",
            Self::After => "after",
        }
    }

    /// Returns whether the operator holds between `left` and `right`; `None` if it does not compare their types.
    #[inline]
    pub fn holds(self, left: AttributeValue<'_>, right: AttributeValue<'_>) -> Option<bool> {
        match (left, right) {
            (AttributeValue::Text(left), AttributeValue::Text(right)) => {
                self.holds_between_texts(left, right)
            }
            (AttributeValue::Number(left), AttributeValue::Number(right)) => {
                self.holds_in_order(left.cmp(&right))
            }
            (item, AttributeValue::List(list)) if item.is_scalar() => match self {
                Self::In => Some(list.has(item)),
                Self::NotIn => Some(!list.has(item)),
                _ => None,
            },
            (left, right) => self.holds_otherwise(left, right),
        }
    }

    /// Returns the number of steps of a comparison that looks at the whole of an attribute: an item of a list, or 16
    /// bytes of a text. Every other comparison ends with the literal.
    #[inline]
    pub(crate) fn scanned(self, left: AttributeValue<'_>, right: AttributeValue<'_>) -> usize {
        match (self, left, right) {
            (Self::In | Self::NotIn, _, AttributeValue::List(list))
            | (Self::Contains, AttributeValue::List(list), _) => list.visited(),
            (Self::Contains | Self::Before | Self::After, AttributeValue::Text(text), _) => {
                text.len() / 16
            }
            _ => 0,
        }
    }

    fn holds_between_texts(self, left: &str, right: &str) -> Option<bool> {
        match self {
            Self::Eq => Some(left == right),
            Self::Ne => Some(left != right),
            Self::Contains => Some(left.contains(right)),
            Self::StartsWith => Some(left.starts_with(right)),
            Self::EndsWith => Some(left.ends_with(right)),
            Self::Before | Self::After => self.holds_between_instants(
                AttributeValue::Text(left).instant()?,
                AttributeValue::Text(right).instant()?,
            ),
            // The byte order of UTF-8 equals the order of code points.
            _ => self.holds_in_order(left.cmp(right)),
        }
    }

    /// Returns whether the operator compares numbers by their order.
    pub(crate) fn orders(self) -> bool {
        self.holds_in_order(Ordering::Equal).is_some()
    }

    /// Returns whether the operator holds between two values in this order; `None` if it does not order values.
    #[inline]
    pub(crate) fn holds_in_order(self, order: Ordering) -> Option<bool> {
        match self {
            Self::Eq => Some(order.is_eq()),
            Self::Ne => Some(order.is_ne()),
            Self::Lt => Some(order.is_lt()),
            Self::Lte => Some(order.is_le()),
            Self::Gt => Some(order.is_gt()),
            Self::Gte => Some(order.is_ge()),
            _ => None,
        }
    }

    fn holds_between_instants(self, left: Instant, right: Instant) -> Option<bool> {
        match self {
            Self::Before => Some(left < right),
            Self::After => Some(left > right),
            _ => None,
        }
    }

    fn holds_otherwise(self, left: AttributeValue<'_>, right: AttributeValue<'_>) -> Option<bool> {
        match self {
            Self::Eq => left.equals(right),
            Self::Ne => left.equals(right).map(|equal| !equal),
            Self::Before | Self::After => {
                self.holds_between_instants(left.instant()?, right.instant()?)
            }
            Self::Contains => match left {
                AttributeValue::List(list) if right.is_scalar() => Some(list.has(right)),
                _ => None,
            },
            _ => None,
        }
    }
}

type Instant = chrono::DateTime<chrono::Utc>;

/// A set of IP networks: disjoint and sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Networks(Box<[IpNet]>);

impl Networks {
    /// Makes the union of these networks.
    pub fn new(networks: &[IpNet]) -> Self {
        let mut disjoint = IpNet::aggregate(&networks.to_vec());
        disjoint.sort_unstable();
        Self(disjoint.into())
    }

    /// Returns each network.
    pub fn iter(&self) -> impl Iterator<Item = &IpNet> {
        self.0.iter()
    }

    /// Returns whether the address `text` lies in the set; `None` if it is no address.
    pub fn contain(&self, text: &str) -> Option<bool> {
        let address = text.parse::<IpAddr>().ok()?.to_canonical();
        // The networks are disjoint and sorted: only the last one that starts at or before the address can contain it.
        let after = self.0.partition_point(|network| network.network() <= address);
        Some(after > 0 && self.0[after - 1].contains(&address))
    }

    pub(crate) fn weight(&self) -> usize {
        self.0.len() * size_of::<IpNet>()
    }
}

/// Parses a network: an address and a prefix length with all host bits zero, or a bare address. IPv4-mapped forms are
/// IPv4 (`docs/semantics.md`, section 4.5).
pub fn parse_network(text: &str) -> Option<IpNet> {
    let (address, prefix) = match text.split_once('/') {
        None => (text, None),
        Some((address, prefix)) => (address, Some(prefix)),
    };
    let address: IpAddr = address.parse().ok()?;
    let network = match prefix {
        None => IpNet::from(address),
        Some(prefix) => IpNet::new(address, parse_prefix(prefix)?).ok()?,
    };
    if network.trunc() != network {
        return None;
    }
    match (network.addr().to_canonical(), network.addr()) {
        (mapped @ IpAddr::V4(_), IpAddr::V6(_)) if network.prefix_len() >= 96 => {
            IpNet::new(mapped, network.prefix_len() - 96).ok()
        }
        _ => Some(network),
    }
}

fn parse_prefix(text: &str) -> Option<u8> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit())
        && (text.len() == 1 || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_strictly() {
        for (text, expected) in [
            ("10.0.0.0/8", Some("10.0.0.0/8")),
            ("10.0.0.1", Some("10.0.0.1/32")),
            ("2001:db8::/32", Some("2001:db8::/32")),
            ("::1", Some("::1/128")),
            ("::ffff:10.0.0.0/104", Some("10.0.0.0/8")),
            ("0.0.0.0/0", Some("0.0.0.0/0")),
            ("10.0.0.1/8", None),
            ("10.0.0.0/33", None),
            ("10.0.0.0/+8", None),
            ("10.0.0.0/08", None),
            ("10.0.0.0/", None),
            ("10.0.0/8", None),
            ("010.0.0.0/8", None),
            ("fe80::1%eth0", None),
            (" 10.0.0.0/8", None),
            ("example.com", None),
        ] {
            assert_eq!(
                parse_network(text).map(|network| network.to_string()),
                expected.map(str::to_owned),
                "{text}"
            );
        }
    }

    #[test]
    fn networks_contain_their_addresses() {
        let set = ["10.0.0.0/8", "10.1.0.0/16", "192.168.7.0/24", "2001:db8::/32"];
        let set: Vec<_> = set.iter().filter_map(|text| parse_network(text)).collect();
        let set = Networks::new(&set);
        for (address, expected) in [
            ("10.1.2.3", Some(true)),
            ("10.255.255.255", Some(true)),
            ("11.0.0.0", Some(false)),
            ("9.255.255.255", Some(false)),
            ("192.168.7.255", Some(true)),
            ("192.168.8.0", Some(false)),
            ("::ffff:10.1.2.3", Some(true)),
            ("2001:db8::1", Some(true)),
            ("2001:db9::1", Some(false)),
            ("10.1.2", None),
            ("010.1.2.3", None),
            ("", None),
        ] {
            assert_eq!(set.contain(address), expected, "{address}");
        }
        assert_eq!(Networks::new(&[]).contain("10.0.0.1"), Some(false));
    }
}
