//! Whether a record has what a plan reads.

use portcullis_engine::{Plan, Precedence};

use crate::inputs::RecordedInputs;
use crate::side::Side;

/// The part of its inputs that a record does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lack {
    Nothing,
    /// Attributes that seem to be absent.
    Absent,
    /// Roles, or attributes that seem to have other values.
    Values,
}

fn absent(is_lacking: bool) -> Lack {
    if is_lacking { Lack::Absent } else { Lack::Nothing }
}

impl RecordedInputs<'_> {
    /// Returns whether `plan` reads an attribute whose value the record does not have, because it is hashed or left out.
    pub(crate) fn is_reduced_for(&self, plan: &Plan) -> bool {
        self.reduced_for(plan).next().is_some()
    }

    /// Returns the attributes that `plan` reads and whose values the record does not have, because they are hashed or left
    /// out.
    pub(crate) fn reduced_for(&self, plan: &Plan) -> impl Iterator<Item = (&str, &str)> {
        self.treated().filter(move |(namespace, name)| match (*namespace, *name) {
            // A plan reads roles also without naming the attribute.
            ("user", "roles") if plan.directory_needs().roles && !self.has_recorded_roles() => true,
            (namespace, name) => !self.is_legacy && plan.reads(namespace, name),
        })
    }

    /// Returns what `candidate` reads and the record does not have, because the plan that decided, `recorded` of `side`,
    /// did not read it. `has_directory` is whether the tenant ever had an entity.
    pub(crate) fn lack(
        &self,
        (side, recorded): (&Side, &Plan),
        candidate: &Plan,
        has_directory: bool,
    ) -> Lack {
        let sides = Sides { side, recorded, candidate, has_directory };
        if self.is_reduced_for(candidate) || self.lacks_roles(&sides) {
            return Lack::Values;
        }
        // RBAC alone reads roles, and no attributes.
        if self.is_legacy {
            return Lack::Nothing;
        }
        let lacks = candidate
            .attributes()
            .map(|(namespace, name)| self.lack_of_attribute(&sides, namespace, name));
        lacks.max().unwrap_or(Lack::Nothing)
    }

    fn lack_of_attribute(&self, sides: &Sides<'_>, namespace: &str, name: &str) -> Lack {
        match namespace {
            "user" | "resource" => self.lack_of_property(sides, namespace, name),
            "token" => absent(self.claims.is_some() && !sides.recorded.reads("token", name)),
            _ => absent(self.lacks_sent(sides, namespace, name)),
        }
    }

    /// Returns whether the request may have sent an attribute that the record leaves out.
    fn lacks_sent(&self, sides: &Sides<'_>, namespace: &str, name: &str) -> bool {
        !self.is_sent(namespace, name)
            && !sides.recorded.reads(namespace, name)
            && sides.side.is_only_if_read(namespace, name)
    }

    /// Returns whether the directory or the token may have said what the record does not have.
    fn lack_of_property(&self, sides: &Sides<'_>, namespace: &str, name: &str) -> Lack {
        let is_related = sides.may_follow(name);
        if self.is_supplied(namespace, name) && !(is_related && sides.has_other_sources()) {
            return Lack::Nothing;
        }
        if self.lacks_sent(sides, namespace, name) {
            return Lack::Absent;
        }
        let is_named = namespace == "user" || is_related || self.names_resource();
        let may_be_known = sides.has_directory && is_named;
        let is_claim = namespace == "user" && self.is_caller && sides.has_other_sources();
        let was_read = sides.recorded.reads(namespace, name);
        if self.is_sent(namespace, name) {
            // Another place may go first.
            let is_open = may_be_known && (sides.prefers_directory() || sides.has_other_sources());
            return if is_open || is_claim { Lack::Values } else { Lack::Nothing };
        }
        absent(may_be_known && (!was_read || sides.has_other_sources()) || is_claim)
    }

    /// Returns whether the directory may have given the subject roles that the record does not have.
    fn lacks_roles(&self, sides: &Sides<'_>) -> bool {
        if !sides.candidate.directory_needs().roles || !sides.has_directory {
            return false;
        }
        let has_own = self.is_caller || self.is_sent("user", "roles");
        // A plan that read roles recorded those of the directory, unless the request went first.
        match sides.recorded.directory_needs().roles {
            true => has_own && sides.prefers_directory(),
            false => !has_own || sides.prefers_directory() || self.is_caller,
        }
    }
}

/// The plan that decided, with its side, and the one that is to decide.
struct Sides<'s> {
    side: &'s Side,
    recorded: &'s Plan,
    candidate: &'s Plan,
    has_directory: bool,
}

impl Sides<'_> {
    /// Returns whether only the candidate takes from the directory what a request sends, too.
    fn prefers_directory(&self) -> bool {
        precedence(self.candidate) == Some(Precedence::Directory)
            && precedence(self.recorded) != Some(Precedence::Directory)
    }

    /// Returns whether the candidate takes an attribute from behind a reference.
    fn may_follow(&self, name: &str) -> bool {
        self.candidate.facts().is_some_and(|facts| facts.sources.may_follow(name))
    }

    /// Returns whether the candidate takes properties from other places.
    fn has_other_sources(&self) -> bool {
        let [new, old] = [self.candidate, self.recorded].map(|plan| plan.facts());
        new.map(|facts| &facts.sources) != old.map(|facts| &facts.sources)
            && new.is_some_and(|facts| !facts.sources.is_empty())
    }
}

fn precedence(plan: &Plan) -> Option<Precedence> {
    plan.facts().and_then(|facts| facts.directory)
}
