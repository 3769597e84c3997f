//! Terms in the form in which the object's side of a check reads them: alternatives of the same object that can stand in one
//! term do.

use super::layers::Layer;
use super::names::Names;
use super::terms::{RelationId, RelationNumber, Term, TermId, TermKind, TypeId};

/// The alternatives of a term, or its factors.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlatTerm {
    /// The relations whose tuples count, in ascending order.
    pub(crate) stored: Vec<(RelationId, RelationNumber)>,
    /// One for each relation that leads to objects, in ascending order.
    pub(crate) arrows: Vec<FlatArrow>,
    /// The other terms of the same object: alternatives, or the factors of a [`TermKind::All`].
    pub(crate) same: Vec<TermId>,
    /// The factors behind a `!`.
    pub(crate) none: Vec<TermId>,
    pub(crate) is_all: bool,
    pub(crate) level: u32,
    /// The terms that it contains, itself included.
    contained: Vec<TermId>,
}

/// The terms of the objects that a relation leads to.
#[derive(Clone, Debug)]
pub(crate) struct FlatArrow {
    pub(crate) over: RelationId,
    pub(crate) number: RelationNumber,
    /// In ascending order. None is contained in another one.
    pub(crate) targets: Vec<(TypeId, TermId)>,
}

/// The maximum number of terms that a term contains. It bounds the memory of a schema.
const MAX_CONTAINED: usize = 16;

/// Returns the flat form of each term.
pub(super) fn flat(terms: &[Term], names: &Names, layers: &[Layer]) -> Vec<FlatTerm> {
    // Components are numbered after those that they depend on, so that what a term contains is flat before it.
    let mut order: Vec<TermId> = (0..).take(terms.len()).collect();
    order.sort_unstable_by_key(|term| layers[*term as usize].component);
    let mut all = vec![FlatTerm::default(); terms.len()];
    for id in order {
        let (term, level) = (&terms[id as usize], layers[id as usize].level);
        let mut flat = FlatTerm { level, contained: vec![id], ..FlatTerm::default() };
        match &term.kind {
            TermKind::All { all, none } => {
                (flat.same, flat.none, flat.is_all) = (all.to_vec(), none.to_vec(), true);
            }
            TermKind::Any { is_stored, same, arrows } => {
                flat.stored.extend(is_stored.then(|| names.numbered(term.relation)));
                for arrow in arrows {
                    flat.add_arrow(names.numbered(arrow.over), &arrow.targets);
                }
                same.iter().for_each(|other| flat.add(*other, &all[*other as usize]));
            }
        }
        flat.stored.sort_unstable();
        flat.arrows.sort_unstable_by_key(|arrow| arrow.over);
        all[id as usize] = flat;
    }
    // An arrow may lead to a term of the same component, so all flat forms must be known.
    let contained: Vec<Vec<TermId>> =
        all.iter_mut().map(|flat| std::mem::take(&mut flat.contained)).collect();
    for arrow in all.iter_mut().flat_map(|flat| &mut flat.arrows) {
        arrow.keep_largest(&contained);
    }
    all
}

impl FlatTerm {
    /// Returns the heap bytes.
    pub(super) fn weight(&self) -> usize {
        let Self { stored, arrows, same, none, .. } = self;
        let targets = arrows.iter().map(|arrow| size_of_val::<[_]>(&arrow.targets));
        size_of_val::<[_]>(stored)
            + size_of_val::<[_]>(arrows)
            + size_of_val::<[_]>(same)
            + size_of_val::<[_]>(none)
            + targets.sum::<usize>()
    }

    /// Adds an alternative of the same object.
    fn add(&mut self, id: TermId, other: &FlatTerm) {
        // A term of the same component may not be flat yet: it contains nothing.
        let fits = self.contained.len() + other.contained.len() <= MAX_CONTAINED;
        if other.is_all || other.contained.is_empty() || !fits {
            add_new(&mut self.same, &[id]);
            return;
        }
        if self.contained.contains(&id) {
            return;
        }
        add_new(&mut self.stored, &other.stored);
        add_new(&mut self.same, &other.same);
        add_new(&mut self.contained, &other.contained);
        for FlatArrow { over, number, targets } in &other.arrows {
            self.add_arrow((*over, *number), targets);
        }
    }

    fn add_arrow(
        &mut self,
        (over, number): (RelationId, RelationNumber),
        targets: &[(TypeId, TermId)],
    ) {
        match self.arrows.iter_mut().find(|arrow| arrow.over == over) {
            Some(arrow) => arrow.targets.extend(targets),
            None => self.arrows.push(FlatArrow { over, number, targets: targets.to_vec() }),
        }
    }
}

fn add_new<T: Copy + PartialEq>(known: &mut Vec<T>, others: &[T]) {
    for other in others {
        if !known.contains(other) {
            known.push(*other);
        }
    }
}

impl FlatArrow {
    /// Sorts the targets, and drops those that another one contains.
    fn keep_largest(&mut self, contained: &[Vec<TermId>]) {
        self.targets.sort_unstable();
        self.targets.dedup();
        let all = self.targets.clone();
        self.targets.retain(|(type_id, term)| {
            !all.iter().any(|(other_type, other)| {
                other_type == type_id && other != term && contained[*other as usize].contains(term)
            })
        });
    }
}
