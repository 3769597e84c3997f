//! The compiler of lines: resolves names, and notes every fault with its place.

use hashbrown::HashMap;
use portcullis_engine::entities::USER;
use portcullis_engine::invalid::{Fault, Place, Problems};
use portcullis_engine::nearest::{any_of, nearest};

use super::layers::{Layer, layers};
use super::names::Names;
use super::terms::{Arrow, RelationId, Storable, StorableSubjects, Term, TermId, TermKind, TypeId};
use crate::definition::RelationDefinition;
use crate::line::{Factor, LinePart, StoredSubjects, Subjects, Word};

/// The maximum number of terms, and of terms that arrows lead to, in all lines. It bounds the memory of a schema.
const MAX_TERMS: usize = 100_000;
/// The maximum number of known names that a message lists.
const FEW: usize = 3;

/// A `!` of a line.
struct Negation {
    /// The term that has it.
    term: TermId,
    /// The term behind it.
    factor: TermId,
    relation: RelationId,
    position: usize,
}

/// Compiles the lines of all relations.
pub(super) struct Compiler<'d> {
    names: Names,
    /// The definitions by relation, each with the index of its type in the input.
    definitions: Vec<(usize, &'d RelationDefinition)>,
    terms: Vec<Term>,
    /// The terms of `b.c` after `a`, by type.
    rests: HashMap<(TypeId, Vec<&'d str>), TermId>,
    /// The number of targets of arrows.
    targets: usize,
    negations: Vec<Negation>,
    problems: &'d mut Problems,
    /// The relation whose line is compiled.
    relation: RelationId,
}

/// The parts of a [`TermKind::Any`] while they are collected.
#[derive(Default)]
struct AnyParts {
    is_stored: bool,
    same: Vec<TermId>,
    arrows: Vec<Arrow>,
}

impl<'d> Compiler<'d> {
    /// Starts with `names`, whose relations can store nothing yet.
    pub(super) fn new(
        names: Names,
        definitions: Vec<(usize, &'d RelationDefinition)>,
        problems: &'d mut Problems,
    ) -> Self {
        Self {
            names,
            definitions,
            terms: Vec::new(),
            rests: HashMap::new(),
            targets: 0,
            negations: Vec::new(),
            problems,
            relation: RelationId(0),
        }
    }

    /// Compiles every line. The term of a relation has its number.
    pub(super) fn compile(mut self) -> (Names, Vec<Term>, Vec<Layer>) {
        let all: Vec<RelationId> = (0..).map(RelationId).take(self.definitions.len()).collect();
        // Before any line is compiled: an arrow asks what the relation before it can store.
        for relation in &all {
            self.relation = *relation;
            self.store();
        }
        // The relations have the first terms: they are filled in below.
        self.terms = all.iter().map(|relation| unfinished(*relation)).collect();
        for relation in &all {
            self.relation = *relation;
            let (_, definition) = self.definitions[relation.0 as usize];
            let mut parts = AnyParts::default();
            self.any(definition.line.whole(), &mut parts);
            self.terms[relation.term() as usize].kind = parts.finish();
            self.check_sources(definition);
            if self.terms.len() + self.targets > MAX_TERMS {
                let what =
                    format!("at most {MAX_TERMS} parts and targets in the lines of all types");
                self.fault(Fault::Expected(what));
                // The schema is refused, and further lines would only take memory.
                break;
            }
        }
        let layers = layers(&self.terms, &self.names);
        self.check_negations(&layers);
        (self.names, self.terms, layers)
    }

    /// Notes each `!` before a part that depends on the term with the `!`.
    fn check_negations(&mut self, layers: &[Layer]) {
        // Taken out, because a fault needs the whole compiler.
        for Negation { term, factor, relation, position } in std::mem::take(&mut self.negations) {
            // Terms of one component depend on each other.
            if layers[term as usize].component == layers[factor as usize].component {
                self.relation = relation;
                let entry = self.names.entry(relation);
                let of_type = self.names.type_name(entry.of_type);
                let expected =
                    format!("a line in which no `!` leads back to `{}` of `{of_type}`", entry.name);
                self.fault(Fault::Token { expected, token: "!".into(), position });
            }
        }
    }

    /// Notes who can be stored in the relation.
    fn store(&mut self) {
        let (_, definition) = self.definitions[self.relation.0 as usize];
        let whole = definition.line.whole();
        let Some(listed) = stored_in(whole) else { return };
        let stored: Box<[Storable]> = listed.iter().filter_map(|one| self.storable(one)).collect();
        let are_objects = stored.iter().all(|one| one.which == StorableSubjects::One);
        // Only such a relation may stand before a `.` (section 12.10).
        let is_whole = matches!(whole, LinePart::Stored(_));
        let entry = &mut self.names.relations[self.relation.0 as usize];
        entry.leads_to =
            (is_whole && are_objects).then(|| stored.iter().map(|one| one.subject_type).collect());
        entry.stored = stored;
    }

    fn storable(&mut self, listed: &StoredSubjects) -> Option<Storable> {
        let name = &listed.subject_type;
        let Some(subject_type) = self.names.type_id(&name.text) else {
            let known = self.names.types.iter().map(|entry| &*entry.name);
            let fault = unknown(name, "a type", known);
            self.fault(fault);
            return None;
        };
        let which = match &listed.which {
            Subjects::One => StorableSubjects::One,
            Subjects::Everyone => StorableSubjects::Everyone,
            Subjects::Related(word) => {
                StorableSubjects::Related(self.relation_of(subject_type, word)?)
            }
        };
        Some(Storable { subject_type, which })
    }

    /// Finds the relation `word` of a type, or notes a fault.
    fn relation_of(&mut self, of_type: TypeId, word: &Word) -> Option<RelationId> {
        let found = self.names.relation(of_type, &word.text);
        if found.is_none() {
            let what = format!("a relation of `{}`", self.names.type_name(of_type));
            let known = self.names.relations_of(of_type);
            let fault = unknown(word, &what, known.map(|one| &*self.names.entry(one).name));
            self.fault(fault);
        }
        found
    }

    fn own_type(&self) -> TypeId {
        self.names.entry(self.relation).of_type
    }

    /// Adds the alternatives of `part`.
    fn any(&mut self, part: &'d LinePart, parts: &mut AnyParts) {
        match part {
            LinePart::Stored(_) => parts.is_stored = true,
            LinePart::Path(words) => match &words[..] {
                [name] => {
                    let relation = self.relation_of(self.own_type(), name);
                    parts.same.extend(relation.map(RelationId::term));
                }
                _ => parts.arrows.extend(self.arrow(self.own_type(), words)),
            },
            LinePart::Any(all) => all.iter().for_each(|part| self.any(part, parts)),
            LinePart::All(factors) => {
                let term = self.all(factors);
                parts.same.push(term);
            }
        }
    }

    fn all(&mut self, factors: &'d [Factor]) -> TermId {
        let (mut all, mut none) = (Vec::new(), Vec::new());
        // Added before its factors, because their negations name it.
        let term = self.add(TermKind::All { all: Box::default(), none: Box::default() });
        for factor in factors {
            let Some(id) = self.factor(&factor.part) else { continue };
            let side = if factor.negation.is_some() { &mut none } else { &mut all };
            if !side.contains(&id) {
                side.push(id);
            }
            if let Some(position) = factor.negation {
                let relation = self.relation;
                self.negations.push(Negation { term, factor: id, relation, position });
            }
        }
        self.terms[term as usize].kind = TermKind::All { all: all.into(), none: none.into() };
        term
    }

    fn factor(&mut self, part: &'d LinePart) -> Option<TermId> {
        if let LinePart::Path(words) = part
            && let [name] = &words[..]
        {
            return Some(self.relation_of(self.own_type(), name)?.term());
        }
        let mut parts = AnyParts::default();
        self.any(part, &mut parts);
        let term = self.add(parts.finish());
        self.terms[term as usize].text = Some(part.to_string().into());
        Some(term)
    }

    /// Compiles `a.b` or `a.b.c` of the objects of a type, which has the relation `a`.
    fn arrow(&mut self, of_type: TypeId, words: &'d [Word]) -> Option<Arrow> {
        let (first, rest) = words.split_first()?;
        let over = self.relation_of(of_type, first)?;
        // A copy, because the parts behind the `.` are added to the compiler.
        let Some(types) = self.names.entry(over).leads_to.clone() else {
            let expected = format!(
                "a relation before `.` that stores objects alone: only types in `[…]`, without `#` and `*`, as `{}` of \
                 `{}` does not",
                first.text,
                self.names.type_name(of_type),
            );
            self.fault(first.fault(expected));
            return None;
        };
        let next = rest.first()?;
        let mut targets = Vec::new();
        for type_id in types.iter().copied() {
            // Not every type must have the relation: one of them is enough.
            let Some(relation) = self.names.relation(type_id, &next.text) else { continue };
            let target = match rest {
                [_] => relation.term(),
                _ => self.rest(type_id, rest)?,
            };
            targets.push((type_id, target));
        }
        if targets.is_empty() {
            let fault = self.no_target(&types, next);
            self.fault(fault);
            return None;
        }
        self.targets += targets.len();
        Some(Arrow { over, targets: targets.into() })
    }

    /// Makes the fault of a relation after `.` that no object has.
    fn no_target(&self, types: &[TypeId], word: &Word) -> Fault {
        let names = any_of(types.iter().map(|one| self.names.type_name(*one)));
        let known = types.iter().flat_map(|one| self.names.relations_of(*one));
        unknown(
            word,
            &format!("a relation of {names}"),
            known.map(|one| &*self.names.entry(one).name),
        )
    }

    /// Returns the term of `b.c` for the objects of a type.
    fn rest(&mut self, of_type: TypeId, words: &'d [Word]) -> Option<TermId> {
        let key = (of_type, words.iter().map(|word| &*word.text).collect());
        if let Some(known) = self.rests.get(&key) {
            return Some(*known);
        }
        let arrow = self.arrow(of_type, words)?;
        let term = self.add(AnyParts { arrows: vec![arrow], ..AnyParts::default() }.finish());
        self.rests.insert(key, term);
        Some(term)
    }

    fn add(&mut self, kind: TermKind) -> TermId {
        let id = self.terms.len();
        self.terms.push(Term { relation: self.relation, text: None, kind });
        // A schema with more terms is refused.
        TermId::try_from(id).unwrap_or(TermId::MAX)
    }

    /// Notes a `claim` or `request` that the line does not allow.
    fn check_sources(&mut self, definition: &RelationDefinition) {
        let entry = self.names.entry(self.relation);
        let users = Storable {
            // `user` is always there: it exists without being declared.
            subject_type: self.names.type_id(USER).unwrap_or(TypeId::MAX),
            which: StorableSubjects::One,
        };
        let claims = definition.claim.is_some() && !entry.stored.contains(&users);
        let requests = definition.request.is_some() && entry.leads_to.is_none();
        self.with_place(|at, problems| {
            if claims {
                problems.expected(&at.key("claim"), "`user` in `[…]` of a relation with a claim");
            }
            if requests {
                let what = "a relation that stores objects alone: only types in `[…]`, without `#` and `*`";
                problems.expected(&at.key("request"), what);
            }
        });
    }

    fn fault(&mut self, fault: Fault) {
        let (_, definition) = self.definitions[self.relation.0 as usize];
        self.with_place(|at, problems| {
            definition.with_line_at(at, |at| problems.push(at, fault));
        });
    }

    /// Calls `use_it` with the place of the relation's definition.
    fn with_place(&mut self, use_it: impl FnOnce(&Place<'_>, &mut Problems)) {
        let (index, definition) = self.definitions[self.relation.0 as usize];
        let root = Place::root();
        let (of_type, relations) = (root.index(index), "relations");
        use_it(&of_type.key(relations).key(&definition.name), self.problems);
    }
}

impl AnyParts {
    fn finish(self) -> TermKind {
        let Self { is_stored, mut same, arrows } = self;
        same.sort_unstable();
        same.dedup();
        TermKind::Any { is_stored, same: same.into(), arrows: arrows.into() }
    }
}

fn unfinished(relation: RelationId) -> Term {
    Term { relation, text: None, kind: AnyParts::default().finish() }
}

/// Returns the one `[…]` of a part.
fn stored_in(part: &LinePart) -> Option<&[StoredSubjects]> {
    match part {
        LinePart::Stored(listed) => Some(listed),
        LinePart::Path(_) => None,
        LinePart::Any(parts) => parts.iter().find_map(stored_in),
        LinePart::All(factors) => factors.iter().find_map(|factor| stored_in(&factor.part)),
    }
}

/// Makes the fault of an unknown name, with the known one that it resembles, or all if they are few.
fn unknown<'k>(word: &Word, what: &str, known: impl Iterator<Item = &'k str>) -> Fault {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let hint = match nearest(&word.text, known.iter().copied()) {
        Some(nearest) => format!(" (did you mean `{nearest}`?)"),
        None if known.len() <= FEW && !known.is_empty() => format!(": {}", any_of(known)),
        None => String::new(),
    };
    word.fault(format!("{what}{hint}"))
}
