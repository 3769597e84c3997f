//! Slots: each attribute that a plan reads has one, and is read at most once per check.

use smallvec::SmallVec;

use super::made_texts::MadeTexts;
use super::symbols::Symbols;
pub(crate) use super::symbols::{Slot, Symbol};
use crate::attributes::AttributeVisitor;
use crate::condition::{AttributePath, RequestField, ResolverAttribute};
use crate::numbered_texts::NumberedTexts;
use crate::relation::RELATION;
use crate::request::{AttributeMap, Check};
use crate::resolution::{AttributeAnswer, AttributeAnswers, ResolverRef};
use crate::resource::object_of;
use crate::supply::DirectoryNeeds;
use crate::types::KEYS;
use crate::value::{AttributeValue, List};

/// The values of one check, by slot. A plan that reads more attributes than fit inline costs one allocation per check.
pub(crate) type Values<'v> = SmallVec<[SlotValue<'v>; 64]>;

/// The value of an attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotValue<'v> {
    /// `None` is absent.
    pub(crate) value: Option<AttributeValue<'v>>,
    /// The symbol of the value, if it is a text and the texts of the attribute are interned.
    pub(crate) symbol: Symbol,
}

/// The slots of a plan.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    paths: Vec<AttributePath>,
    user: NumberedTexts,
    resource: NumberedTexts,
    action: NumberedTexts,
    context: NumberedTexts,
    token: NumberedTexts,
    request: Vec<(RequestField, Slot)>,
    /// The item of a list, in the program of a condition on items.
    item: Option<Slot>,
    /// The names of users and of resources that have a dot: they may lead behind references.
    dotted: [Vec<Box<str>>; 2],
    resolved: Vec<Namespace>,
    symbols: Symbols,
}

/// The attributes of one resolver.
#[derive(Debug)]
pub(crate) struct Namespace {
    pub(crate) name: Box<str>,
    /// The tenant's resolver for the namespace; `None` if it has none.
    pub(crate) resolver: Option<ResolverRef>,
    attributes: NumberedTexts,
}

impl Namespace {
    /// Returns the name of each attribute that the plan reads, with its slot.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&str, Slot)> {
        self.attributes.iter()
    }
}

impl Slots {
    /// Returns the slot of `path`, a new one if the plan does not read it yet.
    pub(crate) fn slot(&mut self, path: AttributePath) -> Slot {
        // The nodes of a plan are numbered by 32 bits, and a test names at most two attributes.
        let next = Slot::try_from(self.paths.len()).unwrap_or(Slot::MAX);
        let slot = match &path {
            AttributePath::User(name) => self.user.find_or_insert(name, next),
            AttributePath::Resource(name) => self.resource.find_or_insert(name, next),
            AttributePath::Action(name) => self.action.find_or_insert(name, next),
            AttributePath::Context(name) => self.context.find_or_insert(name, next),
            AttributePath::Token(name) => self.token.find_or_insert(name, next),
            AttributePath::Resolver(ResolverAttribute { namespace, name }) => {
                self.namespace(namespace).find_or_insert(name, next)
            }
            AttributePath::Item => *self.item.get_or_insert(next),
            AttributePath::Request(field) => {
                let known = self.request.iter().find(|(known, _)| known == field);
                known.map(|(_, slot)| *slot).unwrap_or_else(|| {
                    self.request.push((*field, next));
                    next
                })
            }
        };
        // Only a new attribute has the next number.
        if slot == next {
            match &path {
                AttributePath::User(name) if name.contains('.') => {
                    self.dotted[0].push((&**name).into());
                }
                AttributePath::Resource(name) if name.contains('.') => {
                    self.dotted[1].push((&**name).into());
                }
                _ => {}
            }
            self.paths.push(path);
        }
        slot
    }

    /// Returns the names of a namespace. A linear search suffices: a plan reads few namespaces.
    fn namespace(&mut self, name: &str) -> &mut NumberedTexts {
        let known = self.resolved.iter().position(|known| *known.name == *name);
        let index = known.unwrap_or_else(|| {
            let namespace = Namespace {
                name: name.into(),
                resolver: None,
                attributes: NumberedTexts::default(),
            };
            self.resolved.push(namespace);
            self.resolved.len() - 1
        });
        &mut self.resolved[index].attributes
    }

    /// Returns the resolver namespaces that the plan reads.
    pub(crate) fn namespaces(&self) -> &[Namespace] {
        &self.resolved
    }

    /// Binds each namespace to its resolver.
    pub(crate) fn bind(&mut self, resolver: impl Fn(&str) -> Option<ResolverRef>) {
        for namespace in &mut self.resolved {
            namespace.resolver = resolver(&namespace.name);
        }
    }

    /// Returns whether a resolver provides the attribute.
    pub(crate) fn is_resolved(&self, slot: Slot) -> bool {
        matches!(self.path(slot), AttributePath::Resolver(_))
    }

    /// Returns the parts of the directory that the conditions can need. The inputs of resolvers may be any.
    /// Without relations of the tenant, a resolver may have their namespace.
    pub(crate) fn directory_needs(&self, has_relations: bool) -> DirectoryNeeds {
        let relations = has_relations && !self.resolved.is_empty();
        let has_resolvers =
            !self.resolved.iter().all(|namespace| has_relations && &*namespace.name == RELATION);
        DirectoryNeeds {
            roles: has_resolvers
                || self.request.iter().any(|(field, _)| *field == RequestField::Roles),
            user: has_resolvers || !self.user.is_empty(),
            // The id and the type name the entity. The directory does not supply them.
            resource: has_resolvers || self.resource.iter().any(|(name, _)| !KEYS.contains(&name)),
            relations,
            withholds_roles: false,
        }
    }

    /// Returns the names of users with a dot, and those of resources.
    pub(crate) fn dotted(&self) -> [&[Box<str>]; 2] {
        self.dotted.each_ref().map(|names| &**names)
    }

    /// Returns the attribute of a slot.
    pub(crate) fn path(&self, slot: Slot) -> &AttributePath {
        &self.paths[slot as usize]
    }

    /// Returns whether a condition reads the attribute `<namespace>.<name>`.
    pub(crate) fn reads(&self, namespace: &str, name: &str) -> bool {
        let names = match namespace {
            "user" => &self.user,
            "resource" => &self.resource,
            "action" => &self.action,
            "context" => &self.context,
            "token" => &self.token,
            other => {
                let known = self.resolved.iter().find(|known| *known.name == *other);
                return known.is_some_and(|known| known.attributes.find(name).is_some());
            }
        };
        names.find(name).is_some()
    }

    /// Returns the dotted paths of the claims that the conditions read.
    pub(crate) fn claims(&self) -> impl Iterator<Item = &str> {
        self.token.iter().map(|(path, _)| path)
    }

    /// Returns every attribute, by slot.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &AttributePath> {
        self.paths.iter()
    }

    /// Reads every attribute of the plan from `check` and `answers` into `values`. `texts` are of
    /// [`Slots::made_texts`]. Fills `values` in place, because moving a buffer of that size takes long.
    pub(crate) fn read<'v>(
        &self,
        check: &'v Check<'v>,
        answers: &'v AttributeAnswers,
        texts: &'v MadeTexts,
        values: &mut Values<'v>,
    ) {
        let absent = SlotValue { value: None, symbol: Symbol::NO_TEXT };
        values.resize(self.paths.len(), absent);
        // As a slice, so that not every access asks whether the values are inline.
        let values = &mut **values;
        self.read_map(&self.user, check.attributes.user, values);
        self.read_map(&self.resource, check.attributes.resource, values);
        self.read_map(&self.action, check.attributes.action, values);
        self.read_map(&self.context, check.attributes.context, values);
        if self.reads_more() {
            self.read_more(check, answers, texts, values);
        }
    }

    /// Reads the values of the attributes that `names` has. Walks the request's attributes instead of the plan's slots, so
    /// the request's size bounds the work.
    #[inline]
    fn read_map<'v>(
        &self,
        names: &NumberedTexts,
        attributes: AttributeMap<'v>,
        values: &mut [SlotValue<'v>],
    ) {
        if !names.is_empty() {
            Reader { slots: self, names, values }.read(attributes);
        }
    }

    /// Returns the value of a slot with its symbol.
    #[inline]
    pub(crate) fn known<'v>(&self, slot: Slot, value: AttributeValue<'v>) -> SlotValue<'v> {
        SlotValue { value: Some(value), symbol: self.symbols.for_value(slot, value) }
    }

    /// Returns whether the plan reads more than the attributes that a request carries.
    #[inline]
    fn reads_more(&self) -> bool {
        !self.request.is_empty() || !self.token.is_empty() || !self.resolved.is_empty()
    }

    /// Reads the values that the request does not carry as attributes.
    fn read_more<'v>(
        &self,
        check: &'v Check<'v>,
        answers: &'v AttributeAnswers,
        texts: &'v MadeTexts,
        values: &mut [SlotValue<'v>],
    ) {
        for &(field, slot) in &self.request {
            let value = match field {
                RequestField::Subject => AttributeValue::Text(check.subject),
                RequestField::Resource => AttributeValue::Text(check.resource),
                RequestField::Object => AttributeValue::Text(object_of(check.resource)),
                RequestField::Action => AttributeValue::Text(texts.action(check)),
                RequestField::WrittenAction => AttributeValue::Text(check.action.written()),
                RequestField::Domain => AttributeValue::Text(check.domain),
                RequestField::Time => AttributeValue::Text(texts.time()),
                RequestField::Roles => AttributeValue::List(List::Roles(&check.roles)),
            };
            values[slot as usize] = self.known(slot, value);
        }
        if let Some(claims) = check.claims {
            for (path, slot) in self.token.iter() {
                if let Some(claim) = claims.claim(path) {
                    values[slot as usize] = self.known(slot, claim.into());
                }
            }
        }
        for namespace in &self.resolved {
            for (name, slot) in namespace.attributes.iter() {
                let value = match answers.get(&namespace.name, name) {
                    Some(AttributeAnswer::Value(value)) => AttributeValue::from(value),
                    // The value is absent already.
                    Some(AttributeAnswer::Absent) => continue,
                    Some(AttributeAnswer::Failed(_)) => AttributeValue::Failed,
                    None => AttributeValue::NotRequested,
                };
                values[slot as usize] = self.known(slot, value);
            }
        }
    }

    /// Looks the symbols up of the values that have none yet.
    pub(crate) fn look_up_symbols(&self, values: &mut [SlotValue<'_>]) {
        for slot in self.symbols.slots() {
            let known = &mut values[slot as usize];
            if let Some(value) = known.value
                && known.symbol == Symbol::NO_TEXT
            {
                known.symbol = self.symbols.for_value(slot, value);
            }
        }
    }

    /// Reads the attributes of a subject, or of a resource, into the values of a check; `None` is absent. Replaces values only
    /// if `replaces` is true. The id and the type of a resource are not attributes of its entity.
    pub(crate) fn read_entity<'v>(
        &self,
        subject: bool,
        attributes: impl Iterator<Item = (&'v str, Option<AttributeValue<'v>>)>,
        values: &mut [SlotValue<'v>],
        replaces: bool,
    ) {
        let names = if subject { &self.user } else { &self.resource };
        if names.is_empty() {
            return;
        }
        attributes.for_each(|(name, value)| {
            if let Some(slot) = names.find(name)
                && (replaces || values[slot as usize].value.is_none())
                && (subject || !matches!(name, "id" | "type"))
            {
                values[slot as usize] = SlotValue { value, symbol: Symbol::NO_TEXT };
            }
        });
    }

    /// Interns the texts that each attribute is compared with.
    pub(crate) fn intern(&mut self, literals: Vec<(Slot, Vec<&str>)>) {
        self.symbols = Symbols::new(self.paths.len(), literals);
    }

    /// Gives back the room for further attributes: most plans have few, and are many.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.paths.shrink_to_fit();
        self.dotted.iter_mut().for_each(Vec::shrink_to_fit);
        let known = [
            &mut self.user,
            &mut self.resource,
            &mut self.action,
            &mut self.context,
            &mut self.token,
        ];
        let resolved = self.resolved.iter_mut().map(|namespace| &mut namespace.attributes);
        known.into_iter().chain(resolved).for_each(NumberedTexts::shrink_to_fit);
    }

    /// Returns the symbol of `text`, if the texts of the attribute are interned.
    pub(crate) fn symbol(&self, slot: Slot, text: &str) -> Option<Symbol> {
        self.symbols.for_literal(slot, text)
    }

    /// Returns the texts that the plan reads and the check has in another form.
    pub(crate) fn made_texts(&self, check: &Check<'_>) -> MadeTexts {
        let mut texts = MadeTexts::new();
        self.make_texts(check, &mut texts);
        texts
    }

    /// Makes [`Slots::made_texts`] in place: moving them takes longer than this for most plans.
    #[inline]
    pub(crate) fn make_texts(&self, check: &Check<'_>, texts: &mut MadeTexts) {
        for (field, _) in &self.request {
            match field {
                RequestField::Time => texts.make_time(check.now),
                RequestField::Action => texts.make_action(check),
                _ => {}
            }
        }
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        let names =
            [&self.user, &self.resource, &self.action, &self.context, &self.token].into_iter();
        let resolved = self
            .resolved
            .iter()
            .map(|namespace| namespace.name.len() + namespace.attributes.weight());
        self.paths.capacity() * size_of::<AttributePath>()
            + self.paths.iter().map(AttributePath::weight).sum::<usize>()
            + names.map(NumberedTexts::weight).sum::<usize>()
            + self
                .dotted
                .iter()
                .map(|names| names.capacity() * size_of::<Box<str>>())
                .sum::<usize>()
            + self.dotted.iter().flatten().map(|name| name.len()).sum::<usize>()
            + self.request.capacity() * size_of::<(RequestField, Slot)>()
            + self.resolved.capacity() * size_of::<Namespace>()
            + resolved.sum::<usize>()
            + self.symbols.weight()
    }
}

/// Reads the values of the attributes that `names` has.
struct Reader<'p, 'w, 'v> {
    slots: &'p Slots,
    names: &'p NumberedTexts,
    values: &'w mut [SlotValue<'v>],
}

impl<'v> Reader<'_, '_, 'v> {
    #[inline(never)]
    fn read(&mut self, attributes: AttributeMap<'v>) {
        let names = self.names;
        attributes.visit(|name| names.find(name).is_some(), self);
    }
}

impl<'v> AttributeVisitor<'v> for Reader<'_, '_, 'v> {
    #[inline(always)]
    fn visit(&mut self, name: &'v str, value: AttributeValue<'v>) {
        if let Some(slot) = self.names.find(name) {
            self.values[slot as usize] = self.slots.known(slot, value);
        }
    }
}
