//! An authorization model, as the other system says it.

use super::place::Place;
use super::system::{OPENFGA, System};

/// The types and conditions of a store.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) system: &'static System,
    pub(crate) types: Vec<ModelType>,
    pub(crate) conditions: Vec<ModelCondition>,
    /// Relations that a module adds to types of other modules; empty in a whole model.
    pub(crate) extensions: Vec<ModelType>,
    /// Whether the model is one module of several.
    pub(crate) is_module: bool,
}

/// A type of users or objects.
#[derive(Debug)]
pub(crate) struct ModelType {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) relations: Vec<ModelRelation>,
}

/// A relation of a type.
#[derive(Debug)]
pub(crate) struct ModelRelation {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) rewrite: Rewrite,
}

/// The definition of who has a relation.
#[derive(Debug)]
pub(crate) enum Rewrite {
    /// Nobody. A schema of SpiceDB has it until its permissions that nobody can have are left out.
    Nobody,
    /// `[user, group#member]`: who is stored.
    Direct(Vec<Restriction>),
    /// A relation of the same object.
    Computed(String),
    /// `relation from parents`.
    From {
        relation: String,
        parents: String,
    },
    Any(Vec<Rewrite>),
    All(Vec<Rewrite>),
    /// `base but not subtracted`.
    Except(Box<Rewrite>, Box<Rewrite>),
}

/// Users that a tuple of the relation can have.
#[derive(Clone, Debug)]
pub(crate) struct Restriction {
    pub(crate) user_type: String,
    pub(crate) which: Users,
    pub(crate) condition: Option<String>,
    /// Whether the tuple must have its own expiry.
    pub(crate) expires: bool,
}

/// The users of a type that one tuple names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Users {
    One,
    /// `user:*`.
    Everyone,
    /// `group#member`.
    Related(String),
}

/// A condition of tuples.
#[derive(Debug)]
pub(crate) struct ModelCondition {
    pub(crate) name: String,
    pub(crate) place: Place,
    /// The names of the parameters, each with its type.
    pub(crate) parameters: Vec<(String, String)>,
    /// The text of the expression (CEL).
    pub(crate) expression: String,
}

impl ModelCondition {
    /// Returns whether it has the parameter `name` of the type `kind`.
    pub(crate) fn has_parameter(&self, name: &str, kind: &str) -> bool {
        self.parameters.iter().any(|(own, its)| own == name && its == kind)
    }
}

impl Model {
    /// Makes a model without types.
    pub(crate) fn new(system: &'static System) -> Self {
        Self {
            system,
            types: Vec::new(),
            conditions: Vec::new(),
            extensions: Vec::new(),
            is_module: false,
        }
    }

    /// Returns the model that the modules are together.
    ///
    /// # Errors
    /// An extension of an unknown type, or a relation that the type has already, with its place.
    pub(crate) fn from_modules(modules: impl IntoIterator<Item = Self>) -> Result<Self, String> {
        // Only OpenFGA has modules.
        let (mut whole, mut extensions) = (Self::new(&OPENFGA), Vec::new());
        for module in modules {
            whole.types.extend(module.types);
            whole.conditions.extend(module.conditions);
            extensions.extend(module.extensions);
        }
        // The extensions come last, because a module may extend a type of a later one.
        for ModelType { name, place, relations } in extensions {
            let Some(own) = whole.types.iter_mut().find(|one| one.name == name) else {
                return Err(place.says(format!("no module has the type `{name}`")));
            };
            for relation in relations {
                own.add(relation)?;
            }
        }
        Ok(whole)
    }

    /// Returns the relation `name` of a type.
    pub(crate) fn relation(&self, of_type: &str, name: &str) -> Option<&ModelRelation> {
        let found = self.types.iter().find(|one| one.name == of_type)?;
        found.relations.iter().find(|one| one.name == name)
    }
}

impl ModelType {
    /// Adds a relation.
    ///
    /// # Errors
    /// The type has it already; the fault has its place.
    pub(crate) fn add(&mut self, relation: ModelRelation) -> Result<(), String> {
        if self.relations.iter().any(|own| own.name == relation.name) {
            let reason = format!("`{}` of `{}` is defined twice", relation.name, self.name);
            return Err(relation.place.says(reason));
        }
        self.relations.push(relation);
        Ok(())
    }
}

impl Rewrite {
    /// Returns who can be stored; empty if nobody can.
    pub(crate) fn restrictions(&self) -> &[Restriction] {
        match self {
            Self::Direct(restrictions) => restrictions,
            Self::Nobody | Self::Computed(_) | Self::From { .. } => &[],
            Self::Any(parts) | Self::All(parts) => {
                let each = parts.iter().map(Self::restrictions);
                // A rewrite has restrictions in one place only, so the first ones are all.
                each.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
            }
            Self::Except(base, subtracted) => match base.restrictions() {
                [] => subtracted.restrictions(),
                found => found,
            },
        }
    }
}
