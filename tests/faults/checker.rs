//! Judges a history: does every decision keep what `docs/semantics.md`, section 2.9, promises?

use std::time::Duration;

use super::history::{Check, History, Loss, Write};

/// Finds the broken promises of a history.
pub(super) struct Checker<'h> {
    history: &'h History,
    /// Longest time after which a write counts everywhere: `MAX_STALENESS`, which bounds it also while the database is
    /// out of reach.
    staleness: Duration,
    /// The writes of each tenant that have a revision, in its order.
    writes: Vec<Vec<&'h Write>>,
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A rule of another tenant or of another subject decided.
    ForeignRule(String),
    /// No revision in the window gives this decision.
    WrongDecision(String),
    /// The process of the check had acknowledged a later write before.
    OlderThanOwnWrite(String),
    /// A later write was acknowledged longer ago than the freshness rule allows.
    TooOld(String),
    /// The check demanded a later revision.
    OlderThanDemanded(String),
}

impl<'h> Checker<'h> {
    pub(super) fn new(history: &'h History, staleness: Duration) -> Self {
        let of_tenant = |tenant: usize| {
            let known = |write: &&Write| write.cell.tenant == tenant && write.revision.is_some();
            let mut writes: Vec<_> = history.writes.iter().filter(known).collect();
            // A write that changed nothing has the revision of the one before it.
            writes.sort_by_key(|write| (write.revision, write.began));
            writes
        };
        Self { history, staleness, writes: (0..history.rules.len()).map(of_tenant).collect() }
    }

    /// Returns every broken promise, in the order of the checks.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let checks = self.history.checks.iter();
        let faults = checks.flat_map(|check| {
            [self.rule_fault(check), self.age_fault(check), self.decision_fault(check)]
        });
        faults.flatten().collect()
    }

    fn rule_fault(&self, check: &Check) -> Option<Fault> {
        let own = &self.history.rules[check.cell.tenant][check.cell.number];
        (check.rule != *own).then(|| Fault::ForeignRule(format!("{check:?}, expected {own}")))
    }

    fn age_fault(&self, check: &Check) -> Option<Fault> {
        if check.revision < check.demanded {
            return Some(Fault::OlderThanDemanded(format!("{check:?}")));
        }
        let late = |write: &&&Write| {
            write.revision > Some(check.revision)
                && !(self.is_lost(write)
                    && self.loss(check).is_some_and(|loss| loss.at <= check.ended))
        };
        let mut later = self.writes[check.cell.tenant].iter().filter(late);
        let own = later.clone().find(|write| write.by == check.by && write.ended < check.began);
        if let Some(write) = own {
            return Some(Fault::OlderThanOwnWrite(format!("{check:?} after {write:?}")));
        }
        let old = later.find(|write| write.ended + self.staleness < check.began)?;
        Some(Fault::TooOld(format!("{check:?} after {old:?}")))
    }

    fn decision_fault(&self, check: &Check) -> Option<Fault> {
        let possible = self.possible(check);
        let wrong = !possible.contains(&check.allowed);
        wrong.then(|| Fault::WrongDecision(format!("{check:?}, expected one of {possible:?}")))
    }

    /// Returns the effects that the cell of the check may have at its revision.
    fn possible(&self, check: &Check) -> Vec<bool> {
        let mut possible = Vec::new();
        match self.loss(check) {
            Some(loss) => {
                if loss.at <= check.ended {
                    possible.extend(self.at_revision(check, |write| !self.is_lost(write)));
                }
                // Until a process notices the loss, it decides as before.
                if check.began <= loss.at + self.staleness {
                    possible.extend(self.at_revision(check, |write| write.ended <= loss.at));
                }
            }
            None => possible.extend(self.at_revision(check, |_| true)),
        }
        let unknown = self.history.writes.iter().filter(|write| {
            write.cell == check.cell && write.revision.is_none() && write.began <= check.ended
        });
        possible.extend(unknown.map(|write| write.allows));
        possible
    }

    /// Returns the effect of the last write of the cell up to the revision of the check, among those that count.
    fn at_revision(&self, check: &Check, counts: impl Fn(&Write) -> bool) -> Option<bool> {
        let writes = self.writes[check.cell.tenant].iter().rev();
        let mut own = writes.filter(|write| write.cell == check.cell && counts(write));
        own.find(|write| write.revision <= Some(check.revision)).map(|write| write.allows)
    }

    fn loss(&self, check: &Check) -> Option<&'h Loss> {
        self.history.losses.iter().find(|loss| loss.tenant == check.cell.tenant)
    }

    fn is_lost(&self, write: &Write) -> bool {
        let losses = self.history.losses.iter();
        losses
            .filter(|loss| loss.tenant == write.cell.tenant)
            .any(|loss| write.revision > Some(loss.kept) && write.ended <= loss.at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::{Cell, Process};
    use super::*;

    const CELL: Cell = Cell { tenant: 0, number: 0 };
    const STALENESS: Duration = Duration::from_millis(100);

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn by(replica: usize) -> Process {
        Process { replica, restarts: 0 }
    }

    fn write(allows: bool, began: u64, revision: Option<u64>) -> Write {
        let (began, ended) = (at(began), at(began + 10));
        Write { cell: CELL, allows, by: by(0), began, ended, revision }
    }

    fn check(allowed: bool, began: u64, revision: u64) -> Check {
        let (began, ended, rule) = (at(began), at(began + 5), "a".to_owned());
        Check { cell: CELL, by: by(1), began, ended, demanded: 0, revision, allowed, rule }
    }

    /// A denied cell that is allowed from revision 2 on.
    fn history(checks: Vec<Check>) -> History {
        History {
            writes: vec![write(false, 0, Some(1)), write(true, 50, Some(2))],
            checks,
            rules: vec![vec!["a".to_owned()], vec!["b".to_owned()]],
            ..History::default()
        }
    }

    fn kinds(history: &History) -> Vec<&'static str> {
        let faults = Checker::new(history, STALENESS).faults();
        let kind = |fault: &Fault| match fault {
            Fault::ForeignRule(_) => "foreign",
            Fault::WrongDecision(_) => "wrong",
            Fault::OlderThanOwnWrite(_) => "own",
            Fault::TooOld(_) => "old",
            Fault::OlderThanDemanded(_) => "demanded",
        };
        faults.iter().map(kind).collect()
    }

    #[test]
    fn a_right_history_has_no_fault() {
        let checks = vec![
            check(false, 20, 1),
            check(true, 55, 2),
            check(false, 150, 1),
            check(true, 200, 2),
        ];
        assert_eq!(kinds(&history(checks)), [""; 0]);
    }

    #[test]
    fn every_planted_fault_is_found() {
        let foreign = Check { rule: "b".to_owned(), ..check(true, 70, 2) };
        let own = Check { by: by(0), ..check(false, 70, 1) };
        let demanded = Check { demanded: 2, ..check(false, 70, 1) };
        for (planted, kind) in [
            (foreign, "foreign"),
            (own, "own"),
            (demanded, "demanded"),
            (check(true, 70, 1), "wrong"),
            (check(false, 70, 2), "wrong"),
            (check(false, 161, 1), "old"),
        ] {
            assert_eq!(kinds(&history(vec![planted.clone()])), [kind], "{planted:?}");
        }
    }

    #[test]
    fn a_write_without_an_answer_may_count_from_its_begin_on() {
        let mut history =
            history(vec![check(false, 90, 3), check(true, 90, 2), check(false, 60, 2)]);
        history.writes.push(write(false, 80, None));
        assert_eq!(kinds(&history), ["wrong"], "{history:?}");
    }

    #[test]
    fn a_lost_write_decides_until_the_loss_is_noticed_and_an_acknowledged_one_for_ever() {
        let lost = |checks| History {
            losses: vec![Loss { tenant: 0, kept: 1, at: at(100) }],
            ..history(checks)
        };
        let epoch = 1 << 32;
        let right = vec![
            check(true, 70, 2),
            check(true, 150, 2),
            check(false, 150, 1),
            check(false, 150, epoch),
            check(false, 500, epoch),
        ];
        assert_eq!(kinds(&lost(right)), [""; 0]);
        assert_eq!(kinds(&lost(vec![check(true, 201, 2)])), ["wrong"]);
        assert_eq!(kinds(&lost(vec![check(true, 500, epoch)])), ["wrong"]);
        // The control: without a loss the same decisions are faults.
        assert_eq!(kinds(&history(vec![check(false, 500, epoch)])), ["wrong"]);
    }
}
