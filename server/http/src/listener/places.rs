//! The table of open connections: their number is bounded, and no network has all places.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;
use portcullis_runtime::edge_metrics::ConnectionMetrics;

use super::activity::Activity;

/// Most connections that are looked at to find an idle one, so that a flood of connections costs little time.
const LOOKED_AT: usize = 64;

/// The places for connections.
#[derive(Debug)]
pub(super) struct ConnectionPlaces {
    table: Mutex<OpenConnections>,
    /// Most connections.
    most: usize,
    /// The number from which a network has its share only: three quarters. Below it, one proxy may have all connections.
    nearly_full: usize,
    /// The share of a network: a thirty-second.
    share: usize,
    metrics: ConnectionMetrics,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    /// The connections in the order of their start.
    all: BTreeMap<u64, (IpAddr, Arc<Activity>)>,
    /// The connections of each network.
    by_network: HashMap<IpAddr, BTreeSet<u64>>,
}

/// A place in the table. It is free again when it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPlace {
    places: Arc<ConnectionPlaces>,
    id: u64,
}

impl ConnectionPlaces {
    pub(super) fn new(most: usize, metrics: ConnectionMetrics) -> Arc<Self> {
        let (nearly_full, share) = (most - most / 4, (most / 32).max(1));
        Arc::new(Self { table: Mutex::default(), most, nearly_full, share, metrics })
    }

    /// Returns a place for a connection from `address`. If the table is nearly full and the network has its share, its
    /// oldest idle connection ends; if the table is full, the oldest idle connection of any network ends. Returns `None`
    /// if there is none.
    pub(super) fn take(
        self: &Arc<Self>,
        address: IpAddr,
        activity: &Arc<Activity>,
    ) -> Option<ConnectionPlace> {
        let network = network(address);
        let mut table = self.table.lock();
        let open = table.all.len();
        let own = table.by_network.get(&network).map_or(0, BTreeSet::len);
        let is_free = if open >= self.nearly_full && own >= self.share {
            table.evict_of(network)
        } else {
            open < self.most || table.evict_any()
        };
        if !is_free {
            self.metrics.refused.inc();
            return None;
        }
        let id = table.insert(network, Arc::clone(activity));
        self.metrics.open.inc();
        Some(ConnectionPlace { places: Arc::clone(self), id })
    }
}

impl OpenConnections {
    fn insert(&mut self, network: IpAddr, activity: Arc<Activity>) -> u64 {
        let id = self.next;
        self.next += 1;
        self.all.insert(id, (network, activity));
        self.by_network.entry(network).or_default().insert(id);
        id
    }

    fn remove(&mut self, id: u64) -> Option<Arc<Activity>> {
        let (network, activity) = self.all.remove(&id)?;
        if let Some(own) = self.by_network.get_mut(&network) {
            own.remove(&id);
            if own.is_empty() {
                self.by_network.remove(&network);
            }
        }
        Some(activity)
    }

    fn evict_of(&mut self, network: IpAddr) -> bool {
        // Numbers grow, so that the first ones are the oldest connections.
        let own = self.by_network.get(&network).into_iter().flatten().take(LOOKED_AT);
        let idle = own.copied().find(|id| self.is_idle(*id));
        self.evict(idle)
    }

    fn evict_any(&mut self) -> bool {
        let idle = self.all.keys().take(LOOKED_AT).copied().find(|id| self.is_idle(*id));
        self.evict(idle)
    }

    fn is_idle(&self, id: u64) -> bool {
        self.all.get(&id).is_some_and(|(_, activity)| activity.is_idle())
    }

    fn evict(&mut self, id: Option<u64>) -> bool {
        // The place is free at once, although the connection ends a moment later.
        let evicted = id.and_then(|id| self.remove(id));
        if let Some(activity) = &evicted {
            activity.evict();
        }
        evicted.is_some()
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        // An evicted connection is not in the table any more.
        self.places.table.lock().remove(self.id);
        self.places.metrics.open.dec();
    }
}

/// Returns the network whose connections count together: an IPv4 address, or an IPv6 /64, which is what one client has.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::super::activity::Exchange;
    use super::*;

    struct Connection {
        _place: ConnectionPlace,
        activity: Arc<Activity>,
    }

    fn open(places: &Arc<ConnectionPlaces>, address: &str) -> Option<Connection> {
        let activity = Activity::begin();
        let place = places.take(address.parse().expect("an address"), &activity)?;
        Some(Connection { _place: place, activity })
    }

    fn busy(places: &Arc<ConnectionPlaces>, address: &str) -> Option<(Connection, Exchange)> {
        let connection = open(places, address)?;
        let exchange = connection.activity.exchange();
        Some((connection, exchange))
    }

    fn places(most: usize) -> Arc<ConnectionPlaces> {
        ConnectionPlaces::new(most, ConnectionMetrics::default())
    }

    fn evicted(connection: &Connection) -> bool {
        use futures_util::FutureExt;
        connection.activity.evicted().now_or_never().is_some()
    }

    #[tokio::test]
    async fn one_network_leaves_places_to_others() {
        let places = places(64);
        let held: Vec<_> = (0..100).filter_map(|_| busy(&places, "192.0.2.1")).collect();
        assert_eq!(held.len(), 48, "three quarters");
        let others: Vec<_> =
            (0..16).filter_map(|host| busy(&places, &format!("192.0.2.{}", 10 + host))).collect();
        assert_eq!(others.len(), 16, "the rest is for others");
        assert!(busy(&places, "192.0.2.200").is_none(), "the table is full");
        drop(held);
        assert!(busy(&places, "192.0.2.200").is_some());
        drop(others);
        assert_eq!(places.table.lock().by_network.len(), 0, "no network is remembered");
        assert_eq!((places.metrics.open.get(), places.metrics.refused.get()), (0, 53));
    }

    #[tokio::test]
    async fn an_idle_connection_gives_way_to_one_of_its_network() {
        let places = places(64);
        let held: Vec<_> = (0..48).filter_map(|_| open(&places, "192.0.2.1")).collect();
        let other = open(&places, "192.0.2.2").expect("a place");
        let next = open(&places, "192.0.2.1").expect("the place of the oldest");
        let ended: Vec<bool> = held.iter().map(evicted).collect();
        assert!(ended[0] && !ended[1..].contains(&true));
        assert!(!evicted(&other) && !evicted(&next));
    }

    #[tokio::test]
    async fn a_full_table_ends_the_oldest_idle_connection() {
        let places = places(4);
        let mut held = Vec::new();
        for host in 1..=3 {
            held.push(busy(&places, &format!("192.0.2.{host}")).expect("a place"));
        }
        let idle = open(&places, "192.0.2.4").expect("a place");
        let next = busy(&places, "192.0.2.5").expect("the place of the idle one");
        assert!(evicted(&idle));
        assert!(busy(&places, "192.0.2.6").is_none(), "all are busy");
        drop((held, idle, next));
        assert!(places.table.lock().all.is_empty());
    }

    #[test]
    fn addresses_of_one_client_count_together() {
        for (address, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            let address = address.parse().expect("an address");
            assert_eq!(network(address).to_string(), expected);
        }
    }
}
