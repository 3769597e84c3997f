//! The parser of SpiceDB's schema language.

use super::unfilled::{Unfilled, leave_out};
use crate::relations::model::{Model, ModelRelation, ModelType, Restriction, Rewrite};
use crate::relations::model_text::{ModelText, Syntax};
use crate::relations::place::Place;
use crate::relations::system::SPICEDB;

/// The word that stands for an expiry beside a caveat.
const EXPIRATION: &str = "expiration";

/// Parses the text of a schema, whose first line is at `start`. Returns the model, and the permissions that nobody can have.
///
/// # Errors
/// The first fault, with its place.
pub(super) fn parse(text: &str, start: &Place) -> Result<(Model, Unfilled), String> {
    Parser { text: ModelText::new(text, Syntax::Schema, start), has_self: false }.schema()
}

struct Parser<'s> {
    text: ModelText<'s>,
    /// Whether `self` is the object itself, and not a name.
    has_self: bool,
}

impl Parser<'_> {
    fn schema(&mut self) -> Result<(Model, Unfilled), String> {
        let mut model = Model::new(&SPICEDB);
        loop {
            match self.text.next() {
                "" => break,
                ";" => self.text.symbol(";")?,
                "use" => {
                    self.text.symbol("use")?;
                    // Other features change nothing that is read here, so their names are accepted and dropped.
                    self.has_self |= self.text.word("the name of a feature")? == "self";
                }
                "definition" => model.types.push(self.definition()?),
                "caveat" => model.conditions.push(self.text.condition("caveat", None)?),
                "import" | "partial" => {
                    return Err(self.text.place().says(format!(
                        "`{}` is not resolved; give the schema that `zed schema compile` writes",
                        self.text.next()
                    )));
                }
                _ => return Err(self.text.expected("`definition`, `caveat` or `use`")),
            }
        }
        let unfilled = leave_out(&mut model.types);
        Ok((model, unfilled))
    }

    fn definition(&mut self) -> Result<ModelType, String> {
        let place = self.text.place();
        self.text.symbol("definition")?;
        let name = self.text.word("the name of a definition")?;
        self.text.symbol("{")?;
        let mut definition = ModelType { name, place, relations: Vec::new() };
        while !self.text.take("}") {
            let relation = match self.text.next() {
                ";" => {
                    self.text.symbol(";")?;
                    continue;
                }
                "relation" => self.relation()?,
                "permission" => self.permission()?,
                _ => return Err(self.text.expected("`relation`, `permission` or `}`")),
            };
            definition.add(relation)?;
        }
        Ok(definition)
    }

    fn relation(&mut self) -> Result<ModelRelation, String> {
        let place = self.text.place();
        self.text.symbol("relation")?;
        let name = self.text.word("the name of a relation")?;
        self.text.symbol(":")?;
        let mut restrictions = vec![self.restriction()?];
        while self.text.take("|") {
            restrictions.push(self.restriction()?);
        }
        Ok(ModelRelation { name, place, rewrite: Rewrite::Direct(restrictions) })
    }

    fn restriction(&mut self) -> Result<Restriction, String> {
        let user_type = self.text.word("the name of a type")?;
        let which = self.text.users()?;
        let mut restriction = Restriction { user_type, which, condition: None, expires: false };
        if self.text.take("with") {
            loop {
                match &*self.text.word("`expiration` or the name of a caveat")? {
                    EXPIRATION => restriction.expires = true,
                    // A restriction has at most one caveat, and the order of the two words is free.
                    name => restriction.condition = Some(name.to_owned()),
                }
                if !self.text.take("and") {
                    break;
                }
            }
        }
        Ok(restriction)
    }

    fn permission(&mut self) -> Result<ModelRelation, String> {
        let place = self.text.place();
        self.text.symbol("permission")?;
        let name = self.text.word("the name of a permission")?;
        if self.text.take(":") {
            self.text.word("the name of a type")?;
            while self.text.take("|") {
                self.text.word("the name of a type")?;
            }
        }
        self.text.symbol("=")?;
        Ok(ModelRelation { name, place, rewrite: self.except()? })
    }

    /// Parses `a - b - c`. `-` binds less than `&`, and `&` less than `+`.
    fn except(&mut self) -> Result<Rewrite, String> {
        let mut base = self.all()?;
        while self.text.take("-") {
            // The operator is left-associative: `a - b - c` takes `c` from what is left of `a`.
            base = Rewrite::Except(Box::new(base), Box::new(self.all()?));
        }
        Ok(base)
    }

    fn all(&mut self) -> Result<Rewrite, String> {
        let mut parts = vec![self.any()?];
        while self.text.take("&") {
            parts.push(self.any()?);
        }
        Ok(one_or(parts, Rewrite::All))
    }

    fn any(&mut self) -> Result<Rewrite, String> {
        let mut parts = vec![self.operand()?];
        while self.text.take("+") {
            parts.push(self.operand()?);
        }
        Ok(one_or(parts, Rewrite::Any))
    }

    fn operand(&mut self) -> Result<Rewrite, String> {
        // The parser counts open parentheses here, which bounds how deep it recurses.
        if self.text.open()? {
            let expression = self.except()?;
            self.text.close()?;
            return Ok(expression);
        }
        let place = self.text.place();
        let name = self.text.word("`(` or the name of a relation or permission")?;
        match &*name {
            "nil" => return Ok(Rewrite::Nobody),
            "self" if self.has_self => {
                let reason = "`self` is not a relation; take it out of the schema, and write a policy that compares \
                              `resource.id` with `request.subject` instead (docs/spicedb.md)";
                return Err(place.says(reason));
            }
            _ => {}
        }
        if self.text.take_arrow() {
            let relation = self.text.word("the name of a relation or permission after `->`")?;
            return Ok(Rewrite::From { relation, parents: name });
        }
        if !self.text.take(".") {
            return Ok(Rewrite::Computed(name));
        }
        let which = self.text.word("`any` or `all`")?;
        self.text.symbol("(")?;
        let relation = self.text.word("the name of a relation or permission")?;
        self.text.symbol(")")?;
        match &*which {
            // The method `any` is the long form of an arrow.
            "any" => Ok(Rewrite::From { relation, parents: name }),
            "all" => Err(place.says(format!(
                "`{name}.all({relation})` asks for all objects in `{name}` at once; write `{name}->{relation}` if each object \
                 has one `{name}`, or else a relation that stores who may (docs/spicedb.md)"
            ))),
            other => Err(place.says(format!("expected `any` or `all`, not `{other}`"))),
        }
    }
}

/// Returns the only part, or all of them as `make` says.
fn one_or(mut parts: Vec<Rewrite>, make: fn(Vec<Rewrite>) -> Rewrite) -> Rewrite {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        // The part that was taken out goes back to the end, where it came from.
        last => {
            parts.extend(last);
            make(parts)
        }
    }
}
