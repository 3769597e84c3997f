//! The schema: the relations of all types of a tenant, compiled.

mod compiler;
mod flat;
mod layers;
mod names;
mod terms;
mod uses;

use hashbrown::HashSet;
use portcullis_engine::Invalid;
use portcullis_engine::entities::USER;
use portcullis_engine::invalid::{Place, Problems};

use crate::claim_source::ClaimSource;
use crate::definition::{MAX_RELATIONS, RelationDefinition};
use compiler::Compiler;
use flat::FlatTerm;
use layers::Layer;
use names::{Names, RelationEntry, TypeEntry};
use terms::StorableSubjects;
use uses::{Reach, Use};

pub(crate) use flat::FlatArrow;
pub use terms::{RelationId, RelationNumber};
pub(crate) use terms::{Term, TermId, TermKind, TypeId};
pub(crate) use uses::Use as TermUse;

/// The maximum number of types with relations.
pub const MAX_TYPES: usize = 100;

/// The relations of one type.
#[derive(Clone, Copy, Debug)]
pub struct TypeRelations<'d> {
    /// The name of the type.
    pub name: &'d str,
    /// Each relation with its number, which no other relation has.
    pub relations: &'d [(RelationNumber, RelationDefinition)],
}

/// The relations of all types of a tenant.
#[derive(Debug)]
pub struct Schema {
    names: Names,
    terms: Vec<Term>,
    layers: Vec<Layer>,
    flat: Vec<FlatTerm>,
    uses: Vec<Box<[Use]>>,
    reaches: Vec<Reach>,
    /// The term of each relation that can store something.
    stored: Vec<Option<TermId>>,
    by_number: Vec<Option<RelationId>>,
    /// Whether usersets have a relation.
    is_userset: Box<[bool]>,
    /// The terms on which the members of usersets depend.
    closure: Box<[bool]>,
    levels: u32,
}

impl Schema {
    /// Compiles the relations of all types. The type `user` exists without being declared.
    ///
    /// # Errors
    /// Every fault, at `/<index of the type>/relations/<name>` or below.
    pub fn compile(types: &[TypeRelations<'_>]) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        check_limits(types, &mut problems);
        let (names, definitions) = names(types);
        // The compiler relies on unique names and numbers, so it does not run without them.
        if !problems.is_empty() {
            return problems.finish(None);
        }
        let (names, terms, layers) = Compiler::new(names, definitions, &mut problems).compile();
        problems.finish(Some(Self::new(names, terms, layers)))
    }

    fn new(names: Names, terms: Vec<Term>, layers: Vec<Layer>) -> Self {
        let mut stored = vec![None; names.relations.len()];
        for (id, term) in (0..).zip(&terms) {
            if matches!(term.kind, TermKind::Any { is_stored: true, .. }) {
                stored[term.relation.0 as usize] = Some(id);
            }
        }
        let mut is_userset = vec![false; names.relations.len()];
        for one in names.relations.iter().flat_map(|entry| &entry.stored) {
            if let StorableSubjects::Related(relation) = one.which {
                is_userset[relation.0 as usize] = true;
            }
        }
        let mut by_number = Vec::new();
        for (relation, entry) in (0..).map(RelationId).zip(&names.relations) {
            let number = entry.number.0 as usize;
            // A number has 16 bits, which bounds the room.
            by_number.resize(by_number.len().max(number + 1), None);
            by_number[number] = Some(relation);
        }
        // The term of a relation has its number.
        let usersets = (0..).zip(&is_userset).filter(|(_, is_userset)| **is_userset);
        Self {
            flat: flat::flat(&terms, &names, &layers),
            uses: uses::uses(&terms),
            reaches: uses::reaches(&terms, &names, &layers),
            closure: uses::cone(&terms, &names, usersets.map(|(term, _)| term)),
            by_number,
            levels: layers.iter().map(|layer| layer.level + 1).max().unwrap_or_default(),
            names,
            terms,
            layers,
            stored,
            is_userset: is_userset.into(),
        }
    }

    /// Returns the bytes that the terms occupy, about.
    pub fn weight(&self) -> usize {
        // A term has its layer, its reach, and its factors or arrows in two more forms.
        let of_term = size_of::<Term>() + size_of::<Layer>() + size_of::<Reach>();
        let flat = self.flat.iter().map(|flat| size_of::<FlatTerm>() + 2 * flat.weight());
        let uses = self.uses.iter().map(|uses| size_of_val::<[Use]>(uses));
        self.terms.len() * of_term + flat.sum::<usize>() + uses.sum::<usize>()
    }

    /// Returns whether a type is declared. `user` is.
    pub fn has_type(&self, name: &str) -> bool {
        self.names.type_id(name).is_some()
    }

    /// Returns the relation `name` of a type.
    pub fn relation(&self, of_type: &str, name: &str) -> Option<RelationId> {
        self.names.relation(self.names.type_id(of_type)?, name)
    }

    /// Returns the relation with this number.
    pub fn by_number(&self, number: RelationNumber) -> Option<RelationId> {
        self.by_number.get(number.0 as usize).copied().flatten()
    }

    /// Returns every relation, in the order of types and names.
    pub fn relations(&self) -> impl Iterator<Item = RelationId> + use<> {
        (0..).map(RelationId).take(self.names.relations.len())
    }

    /// Returns the type of the objects of a relation.
    pub fn type_of(&self, relation: RelationId) -> &str {
        self.names.type_name(self.entry(relation).of_type)
    }

    /// Returns the name of a relation.
    pub fn name(&self, relation: RelationId) -> &str {
        &self.entry(relation).name
    }

    /// Returns the number of a relation.
    pub fn number(&self, relation: RelationId) -> RelationNumber {
        self.entry(relation).number
    }

    /// Returns each relation that a claim of the caller's token gives, with the claim.
    pub fn claims(&self) -> impl Iterator<Item = (RelationId, &ClaimSource)> {
        self.names.claims.iter().map(|(relation, claim)| (*relation, claim))
    }

    /// Returns the claims on which `relation` depends, over the members of usersets too, each with the relation that it gives.
    pub fn claims_of(
        &self,
        relation: RelationId,
    ) -> impl Iterator<Item = (RelationId, &ClaimSource)> {
        let cone = self.cone(relation.term());
        self.claims().filter(move |(claimed, _)| cone[claimed.term() as usize])
    }

    /// Returns each relation for whose stored edges an attribute of the resource stands, with the attribute.
    pub fn requests(&self) -> impl Iterator<Item = (RelationId, &str)> {
        self.names.requests.iter().map(|(relation, attribute)| (*relation, &**attribute))
    }

    /// Returns the types of the objects that a relation leads to, if it stores objects alone.
    pub fn leads_to(&self, relation: RelationId) -> Option<impl Iterator<Item = &str>> {
        let types = self.entry(relation).leads_to.as_deref()?;
        Some(types.iter().map(|type_id| self.names.type_name(*type_id)))
    }

    /// Returns what a relation can store, as its line lists it; empty if it can store nothing.
    pub fn storable(&self, relation: RelationId) -> impl Iterator<Item = String> {
        self.entry(relation).stored.iter().map(|one| {
            let name = self.names.type_name(one.subject_type);
            match one.which {
                StorableSubjects::One => name.to_owned(),
                StorableSubjects::Everyone => format!("{name}:*"),
                StorableSubjects::Related(related) => format!("{name}#{}", self.name(related)),
            }
        })
    }

    /// Returns whether a tuple of `relation` may name this subject: `*` is everybody of the type, and `subject_relation`
    /// all who have that relation to the subject.
    pub fn admits(
        &self,
        relation: RelationId,
        (subject_type, id): (&str, &str),
        subject_relation: Option<RelationId>,
    ) -> bool {
        let which = match (subject_relation, id) {
            (Some(_), "*") => return false,
            (Some(related), _) => StorableSubjects::Related(related),
            (None, "*") => StorableSubjects::Everyone,
            (None, _) => StorableSubjects::One,
        };
        let Some(subject_type) = self.names.type_id(subject_type) else { return false };
        let stored = &self.entry(relation).stored;
        stored.iter().any(|one| one.subject_type == subject_type && one.which == which)
    }

    /// Returns the relations that nobody can have, whatever is stored.
    pub fn without_subjects(&self) -> impl Iterator<Item = RelationId> + use<> {
        let possible = uses::possible(&self.terms, &self.names);
        self.relations().filter(move |relation| !possible[relation.term() as usize])
    }

    fn entry(&self, relation: RelationId) -> &RelationEntry {
        self.names.entry(relation)
    }

    pub(crate) fn type_id(&self, name: &str) -> Option<TypeId> {
        self.names.type_id(name)
    }

    pub(crate) fn type_id_of(&self, relation: RelationId) -> TypeId {
        self.entry(relation).of_type
    }

    pub(crate) fn type_name(&self, type_id: TypeId) -> &str {
        self.names.type_name(type_id)
    }

    /// Returns the name of each type, `user` among them.
    pub fn type_names(&self) -> impl Iterator<Item = &str> {
        self.names.types.iter().map(|entry| &*entry.name)
    }

    pub(crate) fn term(&self, term: TermId) -> &Term {
        &self.terms[term as usize]
    }

    /// Returns the text of a factor, or the name of the relation that a term is.
    pub(crate) fn text(&self, term: TermId) -> &str {
        let Term { relation, text, .. } = self.term(term);
        text.as_deref().unwrap_or_else(|| self.name(*relation))
    }

    /// Returns the number of terms.
    pub(crate) fn terms(&self) -> usize {
        self.terms.len()
    }

    pub(crate) fn flat(&self, term: TermId) -> &FlatTerm {
        &self.flat[term as usize]
    }

    pub(crate) fn level(&self, term: TermId) -> u32 {
        self.layers[term as usize].level
    }

    /// Returns the number of levels.
    pub(crate) fn levels(&self) -> u32 {
        self.levels
    }

    pub(crate) fn uses(&self, term: TermId) -> &[Use] {
        &self.uses[term as usize]
    }

    pub(crate) fn reach(&self, term: TermId) -> Reach {
        self.reaches[term as usize]
    }

    /// Returns the term that the tuples of a relation give.
    pub(crate) fn stored_term(&self, relation: RelationId) -> Option<TermId> {
        self.stored[relation.0 as usize]
    }

    /// Returns the relation of whose line `term` is the whole, if usersets have it.
    pub(crate) fn userset(&self, term: TermId) -> Option<RelationId> {
        // Further terms are parts of lines, and out of range here.
        let is_userset = self.is_userset.get(term as usize).is_some_and(|is_userset| *is_userset);
        is_userset.then_some(RelationId(term))
    }

    /// Returns which terms decide who the members of usersets are.
    pub(crate) fn closure(&self) -> &[bool] {
        &self.closure
    }

    /// Returns which terms `term` depends on, itself included.
    pub(crate) fn cone(&self, term: TermId) -> Box<[bool]> {
        uses::cone(&self.terms, &self.names, [term])
    }
}

fn check_limits(types: &[TypeRelations<'_>], problems: &mut Problems) {
    let root = Place::root();
    if types.len() > MAX_TYPES {
        problems.expected(&root, format!("at most {MAX_TYPES} types"));
    }
    let (mut known, mut numbers) = (HashSet::new(), HashSet::new());
    for (index, one) in types.iter().enumerate() {
        let at = root.index(index);
        if !known.insert(one.name) {
            problems.expected(&at, format!("the type `{}` once", one.name));
        }
        if one.relations.len() > MAX_RELATIONS {
            problems.expected(&at.key("relations"), format!("at most {MAX_RELATIONS} relations"));
        }
        for (number, definition) in one.relations {
            if !numbers.insert(number) || number.0 == u16::MAX {
                let at = at.key("relations");
                problems.expected(&at.key(&definition.name), "a number that no other relation has");
            }
        }
    }
}

/// Returns the names of types and relations, and the definitions by relation, with the indexes of their types.
fn names<'d>(types: &[TypeRelations<'d>]) -> (Names, Vec<(usize, &'d RelationDefinition)>) {
    let user = TypeRelations { name: USER, relations: &[] };
    let mut all: Vec<(usize, TypeRelations<'d>)> = types.iter().copied().enumerate().collect();
    if types.iter().all(|one| one.name != USER) {
        all.push((types.len(), user));
    }
    // Types are found by binary search.
    all.sort_unstable_by_key(|(_, one)| one.name);
    let (mut names, mut definitions) = (Names::default(), Vec::new());
    for (of_type, (index, one)) in (0..).zip(all) {
        let mut relations: Vec<_> = one.relations.iter().collect();
        // So are the relations of a type.
        relations.sort_unstable_by_key(|(_, definition)| &definition.name);
        let start = u32::try_from(definitions.len()).unwrap_or(u32::MAX);
        for (number, definition) in relations {
            let relation = RelationId(u32::try_from(definitions.len()).unwrap_or(u32::MAX));
            let (claim, request) = (definition.claim.clone(), definition.request.as_deref());
            names.claims.extend(claim.map(|claim| (relation, claim)));
            names.requests.extend(request.map(|attribute| (relation, attribute.into())));
            definitions.push((index, definition));
            names.relations.push(RelationEntry {
                name: (*definition.name).into(),
                of_type,
                number: *number,
                stored: Box::default(),
                leads_to: None,
            });
        }
        let end = u32::try_from(definitions.len()).unwrap_or(u32::MAX);
        names.types.push(TypeEntry { name: one.name.into(), relations: start..end });
    }
    (names, definitions)
}

#[cfg(test)]
mod tests;
