//! Ids that ascend from one transaction to the next.

use portcullis_model::Timestamp;
use portcullis_model::ids::Ids;
use uuid::Uuid;

/// Makes ids that ascend and times that never go back, from one transaction to the next. The clock may be put back,
/// and the clocks of two replicas may differ.
pub(crate) struct OrderedIds {
    /// Makes ids beside the ordered ones.
    pub(crate) ids: Ids,
    last: Uuid,
}

impl OrderedIds {
    /// Starts after the id `last`, if there is any.
    pub(crate) fn after(last: Option<Uuid>) -> Self {
        Self { ids: Ids::new(), last: last.unwrap_or_default() }
    }

    /// Returns the next id and its time, which is `at` or a little later.
    pub(crate) fn next(&mut self, at: Timestamp) -> (Uuid, Timestamp) {
        let last_at = Timestamp::from_id(self.last);
        let mut at = at.max(last_at);
        let mut id = self.ids.next(at);
        // Another process may have made a greater id in the same millisecond.
        if id <= self.last {
            at = Timestamp::from_millis(last_at.millis() + 1);
            id = self.ids.next(at);
        }
        self.last = id;
        (id, at)
    }

    /// Returns `id`, or the next one if it does not ascend.
    pub(crate) fn keep(&mut self, id: Uuid, at: Timestamp) -> Uuid {
        if id <= self.last {
            return self.next(at).0;
        }
        self.last = id;
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_ascend_and_times_never_go_back() {
        let mut last = OrderedIds::after(None).next(Timestamp::from_millis(5_000));
        // Each transaction has its own order, and the clock jumps between them.
        for at in [5_000, 5_000, 4_000, 0, 5_000, 6_000, 5_999, 6_000] {
            let mut order = OrderedIds::after(Some(last.0));
            for _ in 0..100 {
                let next = order.next(Timestamp::from_millis(at));
                assert!(next.0 > last.0 && next.1 >= last.1, "{last:?} {next:?}");
                assert_eq!(Timestamp::from_id(next.0), next.1);
                last = next;
            }
        }
        assert!(last.1.millis() < 6_010, "{last:?}");
    }

    #[test]
    fn an_id_is_kept_if_it_ascends() {
        let at = Timestamp::from_millis(5_000);
        let (first, second) = (OrderedIds::after(None).next(at).0, Uuid::max());
        let mut order = OrderedIds::after(Some(first));
        assert!(order.keep(first, at) > first);
        assert_eq!(order.keep(second, at), second);
    }
}
