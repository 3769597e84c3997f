//! The values that tests tell apart: the points that tests name in an order, and the gaps between them. All values of one gap
//! are alike to every test, so that one of them stands for all.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use chrono::{DateTime, TimeDelta, Utc};
use ipnet::IpNet;

use crate::number::Number;
use crate::operator::Networks;

/// The first IPv6 address after those that stand for IPv4 addresses.
const AFTER_MAPPED: Ipv6Addr = Ipv6Addr::new(0, 0, 0, 0, 1, 0, 0, 0);

/// Points of an order, ascending, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points<T>(Vec<T>);

/// The values between two neighbouring points, or on one side of all.
#[derive(Debug)]
pub struct Gap<'p, T> {
    /// The point below; `None` below all points.
    pub low: Option<&'p T>,
    /// The point above; `None` above all points.
    pub high: Option<&'p T>,
}

impl<T: Ord> Points<T> {
    pub fn new(points: impl IntoIterator<Item = T>) -> Self {
        let mut points: Vec<T> = points.into_iter().collect();
        points.sort_unstable();
        points.dedup();
        Self(points)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// Returns the gaps, first the one below and the one above all points. Without points, they are one, which has every
    /// value.
    pub fn gaps(&self) -> impl Iterator<Item = Gap<'_, T>> {
        let below = Gap { low: None, high: self.0.first() };
        let above = self.0.last().map(|last| Gap { low: Some(last), high: None });
        let between = self.0.windows(2).filter_map(|pair| match pair {
            [low, high] => Some(Gap { low: Some(low), high: Some(high) }),
            _ => None,
        });
        std::iter::once(below).chain(above).chain(between)
    }
}

impl Gap<'_, Number> {
    /// Returns a number of the gap: in its middle, or 1 beside all points. `None` if it has every number, or none that a
    /// double can be.
    pub fn number(&self) -> Option<Number> {
        let number = match (self.low, self.high) {
            (None, None) => return None,
            // Beside a large number, 1 more or less is the same double.
            (None, Some(high)) => (high.as_f64() - 1.0).min(high.as_f64().next_down()),
            (Some(low), None) => (low.as_f64() + 1.0).max(low.as_f64().next_up()),
            (Some(low), Some(high)) => f64::midpoint(low.as_f64(), high.as_f64()),
        };
        let is_inside = |number: &Number| {
            self.low.is_none_or(|low| low < number) && self.high.is_none_or(|high| number < high)
        };
        // No double may lie between two integers of more than 53 bits.
        Number::from_f64(number).filter(is_inside)
    }
}

impl Gap<'_, DateTime<Utc>> {
    /// Returns an instant of the gap: in its middle, or `apart` from all points. `None` if it has every instant.
    pub fn instant(&self, apart: TimeDelta) -> Option<DateTime<Utc>> {
        match (self.low, self.high) {
            (None, None) => None,
            (None, Some(high)) => high.checked_sub_signed(apart),
            (Some(low), None) => low.checked_add_signed(apart),
            (Some(low), Some(high)) => Some(*low + (*high - *low) / 2),
        }
    }

    /// Returns how long the gap is; a gap beside all points is the longest.
    pub fn length(&self) -> TimeDelta {
        self.low.zip(self.high).map_or(TimeDelta::MAX, |(low, high)| *high - *low)
    }
}

/// Returns an address of each set of addresses that networks tell apart, each once: the first ones of the networks and those
/// behind their last ones come first.
pub fn addresses<'n>(networks: impl IntoIterator<Item = &'n Networks>) -> Vec<IpAddr> {
    let mut bounds: Vec<IpAddr> = Vec::new();
    for network in networks.into_iter().flat_map(Networks::iter) {
        bounds.push(network.network());
        bounds.extend(behind(network));
    }
    bounds.sort_unstable();
    bounds.dedup();
    let firsts: [IpAddr; 3] =
        [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into(), AFTER_MAPPED.into()];
    let others: Vec<IpAddr> =
        firsts.into_iter().filter(|first| bounds.binary_search(first).is_err()).collect();
    bounds.extend(others);
    bounds
}

/// Returns the first address behind a network; `None` if it has the last one.
fn behind(network: &IpNet) -> Option<IpAddr> {
    match network.broadcast() {
        IpAddr::V4(last) => last.to_bits().checked_add(1).map(|bits| Ipv4Addr::from(bits).into()),
        IpAddr::V6(last) => last.to_bits().checked_add(1).map(|bits| Ipv6Addr::from(bits).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::parse_network;

    #[test]
    fn gaps_are_beside_and_between_the_points() {
        let points = Points::new([3, 1, 3]);
        let gaps: Vec<_> = points.gaps().map(|gap| (gap.low.copied(), gap.high.copied())).collect();
        assert_eq!(gaps, [(None, Some(1)), (Some(3), None), (Some(1), Some(3))]);
        let none = Points::<u8>::new([]);
        assert_eq!(none.gaps().map(|gap| (gap.low, gap.high)).collect::<Vec<_>>(), [(None, None)]);
    }

    #[test]
    fn a_gap_has_a_number_and_an_instant() {
        let points = Points::new([Number::from(1_u64), Number::from(4_u64)]);
        let numbers: Vec<f64> =
            points.gaps().filter_map(|gap| Some(gap.number()?.as_f64())).collect();
        assert_eq!(numbers, [0.0, 5.0, 2.5]);
        let points = Points::new([Number::from(1_u64 << 53), Number::from((1_u64 << 53) + 1)]);
        let numbers: Vec<Option<f64>> =
            points.gaps().map(|gap| gap.number().map(Number::as_f64)).collect();
        assert_eq!(numbers, [Some(9_007_199_254_740_991.0), Some(9_007_199_254_740_994.0), None]);
        let points = Points::new(Number::from_f64(1e300));
        assert!(points.gaps().all(|gap| gap.number().is_some()));
        let instant = |seconds| DateTime::from_timestamp(seconds, 0).expect("an instant");
        let points = Points::new([instant(10), instant(20)]);
        let instants = points.gaps().filter_map(|gap| gap.instant(TimeDelta::seconds(1)));
        assert_eq!(instants.collect::<Vec<_>>(), [9, 21, 15].map(instant));
    }

    #[test]
    fn each_set_of_addresses_that_networks_tell_apart_has_one() {
        let networks = |texts: &[&str]| {
            Networks::new(&texts.iter().filter_map(|text| parse_network(text)).collect::<Vec<_>>())
        };
        let (wide, narrow) = (networks(&["10.0.0.0/8", "fd00::/8"]), networks(&["10.1.0.0/16"]));
        let found: Vec<_> = addresses([&wide, &narrow])
            .iter()
            .map(|address| [&wide, &narrow].map(|one| one.contain(&address.to_string())))
            .collect();
        for expected in [[true, true], [true, false], [false, false]] {
            assert!(found.contains(&expected.map(Some)), "{expected:?}: {found:?}");
        }
        let all = networks(&["0.0.0.0/0", "::/0"]);
        let is_in = |address: &IpAddr| all.contain(&address.to_string()) == Some(true);
        assert!(addresses([&all]).iter().all(is_in));
    }
}
