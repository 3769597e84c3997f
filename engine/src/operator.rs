//! The operators of conditions and their meaning (`docs/semantics.md`, section 4.5).

use std::cmp::Ordering;
use std::net::IpAddr;

use ipnet::IpNet;

use crate::period::Direction;
use crate::value::{AttributeValue, List};

mod table;

pub use table::{ComparedKind, Operator, Quantifier, Row, Takes, UnaryOperator, names};
pub(crate) use table::{Form, Lookup, Mirror, Order, Part};

impl Operator {
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
                Self::Eq | Self::Ne | Self::Lt | Self::Lte | Self::Gt | Self::Gte => None,
                Self::Contains | Self::ContainsAny | Self::ContainsAll => None,
                Self::StartsWith | Self::EndsWith => None,
                Self::Before | Self::After | Self::Within | Self::WithinNext => None,
            },
            (left, right) => self.holds_otherwise(left, right),
        }
    }

    /// Returns the number of steps of a comparison that looks at the whole of an attribute: an item of a list, or 16
    /// bytes of a text. Every other comparison ends with the literal.
    #[inline]
    pub(crate) fn scanned(self, left: AttributeValue<'_>, right: AttributeValue<'_>) -> usize {
        let items = |value| if let AttributeValue::List(list) = value { list.visited() } else { 0 };
        let bytes =
            |value| if let AttributeValue::Text(text) = value { text.len() / 16 } else { 0 };
        match self {
            Self::In | Self::NotIn => items(right),
            Self::Contains => items(left) + bytes(left),
            Self::ContainsAny | Self::ContainsAll => match (left, right) {
                (AttributeValue::List(left), AttributeValue::List(right)) => {
                    left.visited_pairs(right)
                }
                _ => 0,
            },
            Self::Before | Self::After | Self::Within | Self::WithinNext => bytes(left),
            Self::Eq | Self::Ne | Self::Lt | Self::Lte | Self::Gt | Self::Gte => 0,
            Self::StartsWith | Self::EndsWith => 0,
        }
    }

    fn holds_between_texts(self, left: &str, right: &str) -> Option<bool> {
        match self {
            Self::Eq => Some(left == right),
            Self::Ne => Some(left != right),
            Self::Contains => Some(left.contains(right)),
            Self::StartsWith => Some(left.starts_with(right)),
            Self::EndsWith => Some(left.ends_with(right)),
            Self::Before | Self::After => {
                let right = AttributeValue::Text(right);
                self.holds_between_instants(AttributeValue::Text(left), right)
            }
            // The byte order of UTF-8 equals the order of code points.
            Self::Lt | Self::Lte | Self::Gt | Self::Gte => self.holds_in_order(left.cmp(right)),
            Self::In | Self::NotIn | Self::ContainsAny | Self::ContainsAll => None,
            Self::Within | Self::WithinNext => None,
        }
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
            Self::In | Self::NotIn | Self::Contains | Self::StartsWith | Self::EndsWith => None,
            Self::ContainsAny | Self::ContainsAll => None,
            Self::Before | Self::After | Self::Within | Self::WithinNext => None,
        }
    }

    /// Returns whether the operator holds between two instants in this order; `None` if it does not compare instants.
    pub(crate) fn holds_in_time(self, order: Ordering) -> Option<bool> {
        match self {
            Self::Before => Some(order.is_lt()),
            Self::After => Some(order.is_gt()),
            Self::Eq | Self::Ne | Self::Lt | Self::Lte | Self::Gt | Self::Gte => None,
            Self::In | Self::NotIn | Self::Contains | Self::StartsWith | Self::EndsWith => None,
            Self::ContainsAny | Self::ContainsAll | Self::Within | Self::WithinNext => None,
        }
    }

    fn holds_otherwise(self, left: AttributeValue<'_>, right: AttributeValue<'_>) -> Option<bool> {
        match self {
            Self::Eq => left.equals(right),
            Self::Ne => left.equals(right).map(|equal| !equal),
            Self::Before | Self::After => self.holds_between_instants(left, right),
            Self::Contains => match left {
                AttributeValue::List(list) if right.is_scalar() => Some(list.has(right)),
                _ => None,
            },
            Self::ContainsAny => holds_between_lists(left, right, List::has_any),
            Self::ContainsAll => holds_between_lists(left, right, List::has_all),
            Self::Within => holds_in_period(left, right, Direction::Past),
            Self::WithinNext => holds_in_period(left, right, Direction::Future),
            Self::Lt | Self::Lte | Self::Gt | Self::Gte | Self::In | Self::NotIn => None,
            Self::StartsWith | Self::EndsWith => None,
        }
    }

    fn holds_between_instants(
        self,
        left: AttributeValue<'_>,
        right: AttributeValue<'_>,
    ) -> Option<bool> {
        self.holds_in_time(left.instant()?.cmp(&right.instant()?))
    }

    /// Returns whether the operator compares values of these kinds: whether a test of them is true or false.
    pub(crate) fn compares(self, left: ComparedKind, right: ComparedKind) -> bool {
        self.row().compares.contains(&(left, right))
    }

    /// Returns whether it compares lists on the left.
    pub(crate) fn compares_list_on_left(&self) -> bool {
        self.row().compares.iter().any(|(left, _)| *left == ComparedKind::List)
    }

    /// Returns whether it compares lists on the right.
    pub(crate) fn compares_list_on_right(&self) -> bool {
        self.row().compares.iter().any(|(_, right)| *right == ComparedKind::List)
    }

    /// Returns whether it compares the length of a list.
    pub fn compares_lengths(self) -> bool {
        matches!(self.row().form, Form::Order(_))
    }

    /// Returns the operator without its negation, and whether it has one.
    pub(crate) fn positive(self) -> (Self, bool) {
        self.row().negates.map_or((self, false), |positive| (positive, true))
    }

    /// Returns the operator that is true with the sides exchanged; `None` if there is none. `of_list` says whether the
    /// side that the operator searches is a list.
    pub(crate) fn mirrored(self, of_list: bool) -> Option<Self> {
        match self.row().mirror {
            Mirror::Always(mirrored) => Some(mirrored),
            Mirror::OfList(mirrored) => of_list.then_some(mirrored),
            Mirror::Never => None,
        }
    }
}

fn holds_between_lists<'l, 'r>(
    left: AttributeValue<'l>,
    right: AttributeValue<'r>,
    holds: fn(List<'l>, List<'r>) -> bool,
) -> Option<bool> {
    match (left, right) {
        (AttributeValue::List(left), AttributeValue::List(right)) => Some(holds(left, right)),
        _ => None,
    }
}

fn holds_in_period(
    left: AttributeValue<'_>,
    right: AttributeValue<'_>,
    direction: Direction,
) -> Option<bool> {
    let AttributeValue::Period(period) = right else { return None };
    Some(period.covers(left.instant()?, direction))
}

impl ComparedKind {
    /// Returns the kind of a value; `None` for a value that no operator compares.
    pub fn from_value(value: AttributeValue<'_>) -> Option<Self> {
        match value {
            // A date-time literal compares with texts.
            AttributeValue::Text(_) | AttributeValue::Instant(_) => Some(Self::Text),
            AttributeValue::Number(_) => Some(Self::Number),
            AttributeValue::Bool(_) => Some(Self::Bool),
            AttributeValue::List(_) => Some(Self::List),
            AttributeValue::Period(_) => Some(Self::Duration),
            AttributeValue::Opaque | AttributeValue::Failed | AttributeValue::NotRequested => None,
        }
    }
}

/// A set of IP networks: disjoint and sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Networks(Box<[IpNet]>);

impl Networks {
    /// Makes the union of these networks.
    pub fn new(networks: &[IpNet]) -> Self {
        // `aggregate` takes a `Vec`, and not a slice.
        let mut disjoint = IpNet::aggregate(&networks.to_vec());
        disjoint.sort_unstable();
        Self(disjoint.into())
    }

    /// Returns each network.
    pub fn iter(&self) -> impl Iterator<Item = &IpNet> {
        self.0.iter()
    }

    /// Returns whether the address `text` lies in the set; `None` if it is not an address.
    pub fn contain(&self, text: &str) -> Option<bool> {
        // An IPv4-mapped address compares as IPv4, as networks do.
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
        // A shorter prefix reaches beyond the mapped addresses, and stays IPv6.
        (mapped @ IpAddr::V4(_), IpAddr::V6(_)) if network.prefix_len() >= 96 => {
            IpNet::new(mapped, network.prefix_len() - 96).ok()
        }
        _ => Some(network),
    }
}

fn parse_prefix(text: &str) -> Option<u8> {
    // `parse` alone would accept a sign.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit())
        && (text.len() == 1 || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;
    use crate::json;
    use crate::period::TimeSpan;

    #[test]
    fn rows_agree_with_the_meaning() {
        let values = br#"["2026-03-01T08:00:00Z", "2026", 1, 2, true, [], [1], [true, "2026"]]"#;
        let values = json::parse(values).expect("JSON");
        let values: Vec<_> = values.as_array().expect("values").iter().collect();
        let pairs = values.iter().flat_map(|left| values.iter().map(move |right| (*left, *right)));
        let now = chrono::DateTime::UNIX_EPOCH;
        let day = TimeSpan::parse("P1D").expect("a duration").around(now);
        let days = values.iter().map(|left| ((*left).into(), AttributeValue::Period(day)));
        let pairs = pairs.map(|(left, right)| (left.into(), right.into()));
        for (left, right) in pairs.chain(days) {
            for operator in Operator::VARIANTS {
                agrees(*operator, left, right);
            }
        }
    }

    #[track_caller]
    fn agrees(operator: Operator, left: AttributeValue<'_>, right: AttributeValue<'_>) {
        let held = operator.holds(left, right);
        let kinds = [left, right].map(|value| ComparedKind::from_value(value).expect("a kind"));
        let is_period = matches!(right, AttributeValue::Period(_));
        let are_instants = left.instant().is_some() && (is_period || right.instant().is_some());
        let compares = operator.compares(kinds[0], kinds[1])
            && (operator.row().form.compares_every_text() || are_instants);
        assert_eq!(held.is_some(), compares, "{operator:?} {left:?} {right:?}");
        let (positive, is_negated) = operator.positive();
        let expected = positive.holds(left, right).map(|truth| truth != is_negated);
        assert_eq!(held, expected, "{operator:?} {left:?} {right:?}");
        if let Some(mirrored) = operator.mirrored(kinds.contains(&ComparedKind::List)) {
            assert_eq!(held, mirrored.holds(right, left), "{operator:?} {left:?} {right:?}");
        }
    }

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
