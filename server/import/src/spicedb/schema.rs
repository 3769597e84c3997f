//! The parser of SpiceDB's schema language.

use super::expression::{Definition, Expression, Member, Unfilled, types};
use crate::relations::cursor::{Cursor, Syntax};
use crate::relations::model::{Model, ModelCondition, Restriction, Users};
use crate::relations::place::Place;
use crate::relations::system::System;
use crate::relations::types::MAX_NESTING;

/// The word that stands for an expiry beside a caveat.
const EXPIRATION: &str = "expiration";

/// Parses the text of a schema, whose first line is at `start`. Returns the model, and the permissions that nobody can have.
///
/// # Errors
/// The first fault, with its place.
pub(super) fn parse(text: &str, start: &Place) -> Result<(Model, Unfilled), String> {
    let cursor = Cursor::new(text, Syntax::Schema);
    let mut parser = Parser { cursor, start, nesting: 0, has_self: false };
    parser.schema()
}

struct Parser<'s> {
    cursor: Cursor<'s>,
    start: &'s Place,
    nesting: usize,
    /// Whether `self` is the object itself, and not a name.
    has_self: bool,
}

impl Parser<'_> {
    fn place(&self) -> Place {
        self.start.below(self.cursor.line())
    }

    fn expected(&self, what: &str) -> String {
        let reason = match self.cursor.next() {
            "" => format!("expected {what}, where the text ends"),
            next => format!("expected {what}, not `{next}`"),
        };
        self.place().says(reason)
    }

    fn word(&mut self, what: &str) -> Result<String, String> {
        let fault = self.expected(what);
        self.cursor.word().map(str::to_owned).ok_or(fault)
    }

    fn symbol(&mut self, symbol: &str) -> Result<(), String> {
        match self.cursor.take(symbol) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{symbol}`"))),
        }
    }

    fn schema(&mut self) -> Result<(Model, Unfilled), String> {
        let (mut model, mut definitions) = (Model::new(System::Spicedb), Vec::new());
        loop {
            match self.cursor.next() {
                "" => break,
                ";" => self.symbol(";")?,
                "use" => {
                    self.symbol("use")?;
                    self.has_self |= self.word("the name of a feature")? == "self";
                }
                "definition" => definitions.push(self.definition()?),
                "caveat" => model.conditions.push(self.caveat()?),
                "import" | "partial" => {
                    return Err(self.place().says(format!(
                        "`{}` is not resolved; give the schema that `zed schema compile` writes",
                        self.cursor.next()
                    )));
                }
                _ => return Err(self.expected("`definition`, `caveat` or `use`")),
            }
        }
        let (all, unfilled) = types(definitions);
        model.types = all;
        Ok((model, unfilled))
    }

    fn definition(&mut self) -> Result<Definition, String> {
        let place = self.place();
        self.symbol("definition")?;
        let name = self.word("the name of a definition")?;
        self.symbol("{")?;
        let mut members: Vec<Member> = Vec::new();
        while !self.cursor.take("}") {
            let place = self.place();
            let member = match self.cursor.next() {
                ";" => {
                    self.symbol(";")?;
                    continue;
                }
                "relation" => self.relation()?,
                "permission" => self.permission()?,
                _ => return Err(self.expected("`relation`, `permission` or `}`")),
            };
            if members.iter().any(|own| own.name == member.name) {
                let reason = format!("`{}` of `{name}` is defined twice", member.name);
                return Err(place.says(reason));
            }
            members.push(member);
        }
        Ok(Definition { name, place, members })
    }

    fn relation(&mut self) -> Result<Member, String> {
        let place = self.place();
        self.symbol("relation")?;
        let name = self.word("the name of a relation")?;
        self.symbol(":")?;
        let mut restrictions = vec![self.restriction()?];
        while self.cursor.take("|") {
            restrictions.push(self.restriction()?);
        }
        Ok(Member { name, place, expression: Expression::Direct(restrictions) })
    }

    fn restriction(&mut self) -> Result<Restriction, String> {
        let user_type = self.word("the name of a type")?;
        let which = if self.cursor.take("#") {
            Users::Related(self.word("the name of a relation after `#`")?)
        } else if self.cursor.take(":") {
            self.symbol("*")?;
            Users::Everyone
        } else {
            Users::One
        };
        let mut restriction = Restriction { user_type, which, condition: None, expires: false };
        if self.cursor.take("with") {
            loop {
                match &*self.word("`expiration` or the name of a caveat")? {
                    EXPIRATION => restriction.expires = true,
                    name => restriction.condition = Some(name.to_owned()),
                }
                if !self.cursor.take("and") {
                    break;
                }
            }
        }
        Ok(restriction)
    }

    fn permission(&mut self) -> Result<Member, String> {
        let place = self.place();
        self.symbol("permission")?;
        let name = self.word("the name of a permission")?;
        if self.cursor.take(":") {
            self.word("the name of a type")?;
            while self.cursor.take("|") {
                self.word("the name of a type")?;
            }
        }
        self.symbol("=")?;
        Ok(Member { name, place, expression: self.except()? })
    }

    /// Parses `a - b - c`. `-` binds less than `&`, and `&` less than `+`.
    fn except(&mut self) -> Result<Expression, String> {
        let mut base = self.all()?;
        while self.cursor.take("-") {
            base = Expression::Except(Box::new(base), Box::new(self.all()?));
        }
        Ok(base)
    }

    fn all(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.any()?];
        while self.cursor.take("&") {
            parts.push(self.any()?);
        }
        Ok(one_or(parts, Expression::All))
    }

    fn any(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.operand()?];
        while self.cursor.take("+") {
            parts.push(self.operand()?);
        }
        Ok(one_or(parts, Expression::Any))
    }

    fn operand(&mut self) -> Result<Expression, String> {
        if self.cursor.take("(") {
            self.nesting += 1;
            if self.nesting > MAX_NESTING {
                return Err(self.expected(&format!("parentheses at most {MAX_NESTING} deep")));
            }
            let expression = self.except()?;
            self.symbol(")")?;
            self.nesting -= 1;
            return Ok(expression);
        }
        let place = self.place();
        let name = self.word("`(` or the name of a relation or permission")?;
        match &*name {
            "nil" => return Ok(Expression::Nil),
            "self" if self.has_self => {
                let reason = "`self` is not a relation; take it out of the schema, and write a policy that compares \
                              `resource.id` with `request.subject` instead (docs/spicedb.md)";
                return Err(place.says(reason));
            }
            _ => {}
        }
        if self.cursor.take_arrow() {
            let relation = self.word("the name of a relation or permission after `->`")?;
            return Ok(Expression::Arrow { parents: name, relation });
        }
        if !self.cursor.take(".") {
            return Ok(Expression::Computed(name));
        }
        let which = self.word("`any` or `all`")?;
        self.symbol("(")?;
        let relation = self.word("the name of a relation or permission")?;
        self.symbol(")")?;
        match &*which {
            "any" => Ok(Expression::Arrow { parents: name, relation }),
            "all" => Err(place.says(format!(
                "`{name}.all({relation})` asks for all objects in `{name}` at once; write `{name}->{relation}` if each object \
                 has one `{name}`, or else a relation that stores who may (docs/spicedb.md)"
            ))),
            other => Err(place.says(format!("expected `any` or `all`, not `{other}`"))),
        }
    }

    fn caveat(&mut self) -> Result<ModelCondition, String> {
        let place = self.place();
        self.symbol("caveat")?;
        let name = self.word("the name of a caveat")?;
        self.symbol("(")?;
        let mut parameters = Vec::new();
        while self.cursor.next() != ")" {
            let parameter = self.word("the name of a parameter")?;
            let mut kind = self.word("the type of a parameter")?;
            if self.cursor.take("<") {
                kind = format!("{kind}<{}>", self.word("a type")?);
                self.symbol(">")?;
            }
            parameters.push((parameter, kind));
            if !self.cursor.take(",") {
                break;
            }
        }
        self.symbol(")")?;
        self.symbol("{")?;
        let Some(expression) = self.cursor.block() else {
            return Err(place.says("expected `}` at the end of the caveat"));
        };
        Ok(ModelCondition { name, place, parameters, expression: expression.to_owned() })
    }
}

/// Returns the only part, or all of them as `make` says.
fn one_or(mut parts: Vec<Expression>, make: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            make(parts)
        }
    }
}
