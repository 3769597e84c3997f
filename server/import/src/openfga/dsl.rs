//! The parser of models in OpenFGA's modeling language (schema 1.1 and 1.2).

use crate::relations::cursor::{Cursor, Syntax};
use crate::relations::model::{
    Model, ModelCondition, ModelRelation, ModelType, Restriction, Rewrite, Users,
};
use crate::relations::place::Place;
use crate::relations::system::System;
use crate::relations::types::MAX_NESTING;

/// Parses the text of a model, whose first line is at `start`.
///
/// # Errors
/// The first fault, with its place.
pub(super) fn parse(text: &str, start: &Place) -> Result<Model, String> {
    let mut parser = Parser { cursor: Cursor::new(text, Syntax::Model), start, nesting: 0 };
    parser.model()
}

struct Parser<'s> {
    cursor: Cursor<'s>,
    start: &'s Place,
    nesting: usize,
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

    fn model(&mut self) -> Result<Model, String> {
        let mut model =
            Model { is_module: self.cursor.take("module"), ..Model::new(System::Openfga) };
        if model.is_module {
            self.word("the name of the module")?;
        } else {
            self.symbol("model")?;
            self.symbol("schema")?;
            if !self.cursor.take("1.1") && !self.cursor.take("1.2") {
                return Err(self.expected("schema `1.1` or `1.2`"));
            }
        }
        loop {
            match self.cursor.next() {
                "" => return Ok(model),
                "type" => model.types.push(self.model_type()?),
                "condition" => model.conditions.push(self.condition()?),
                "extend" if model.is_module => {
                    self.symbol("extend")?;
                    model.extensions.push(self.model_type()?);
                }
                _ => return Err(self.expected("`type`, `define` or `condition`")),
            }
        }
    }

    fn model_type(&mut self) -> Result<ModelType, String> {
        let place = self.place();
        self.symbol("type")?;
        let name = self.word("the name of a type")?;
        let mut found = ModelType { name, place, relations: Vec::new() };
        if self.cursor.take("relations") {
            while self.cursor.next() == "define" {
                found.add(self.relation()?)?;
            }
        }
        Ok(found)
    }

    fn relation(&mut self) -> Result<ModelRelation, String> {
        let place = self.place();
        self.symbol("define")?;
        let name = self.word("the name of a relation")?;
        self.symbol(":")?;
        Ok(ModelRelation { name, place, rewrite: self.rewrite()? })
    }

    /// Parses operands with one operator between them; `but not` stands once.
    fn rewrite(&mut self) -> Result<Rewrite, String> {
        let first = self.operand()?;
        let rewrite = match self.cursor.next() {
            "or" => Rewrite::Any(self.operands(first, "or")?),
            "and" => Rewrite::All(self.operands(first, "and")?),
            "but" => {
                self.symbol("but")?;
                self.symbol("not")?;
                Rewrite::Except(Box::new(first), Box::new(self.operand()?))
            }
            _ => first,
        };
        match self.cursor.next() {
            "or" | "and" | "but" => {
                Err(self.expected("parentheses around one of two different operators"))
            }
            _ => Ok(rewrite),
        }
    }

    fn operands(&mut self, first: Rewrite, operator: &str) -> Result<Vec<Rewrite>, String> {
        let mut operands = vec![first];
        while self.cursor.take(operator) {
            operands.push(self.operand()?);
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Result<Rewrite, String> {
        if self.cursor.take("(") {
            self.nesting += 1;
            if self.nesting > MAX_NESTING {
                return Err(self.expected(&format!("parentheses at most {MAX_NESTING} deep")));
            }
            let rewrite = self.rewrite()?;
            self.symbol(")")?;
            self.nesting -= 1;
            return Ok(rewrite);
        }
        if self.cursor.take("[") {
            return self.direct();
        }
        let relation = self.word("`[`, `(` or the name of a relation")?;
        if !self.cursor.take("from") {
            return Ok(Rewrite::Computed(relation));
        }
        let parents = self.word("the name of a relation after `from`")?;
        Ok(Rewrite::From { relation, parents })
    }

    fn direct(&mut self) -> Result<Rewrite, String> {
        let mut restrictions = vec![self.restriction()?];
        while self.cursor.take(",") {
            restrictions.push(self.restriction()?);
        }
        self.symbol("]")?;
        Ok(Rewrite::Direct(restrictions))
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
        let condition = match self.cursor.take("with") {
            true => Some(self.word("the name of a condition")?),
            false => None,
        };
        Ok(Restriction { user_type, which, condition, expires: false })
    }

    fn condition(&mut self) -> Result<ModelCondition, String> {
        let place = self.place();
        self.symbol("condition")?;
        let name = self.word("the name of a condition")?;
        self.symbol("(")?;
        let mut parameters = Vec::new();
        while self.cursor.next() != ")" {
            parameters.push(self.parameter()?);
            if !self.cursor.take(",") {
                break;
            }
        }
        self.symbol(")")?;
        self.symbol("{")?;
        let Some(expression) = self.cursor.block() else {
            return Err(place.says("expected `}` at the end of the condition"));
        };
        Ok(ModelCondition { name, place, parameters, expression: expression.to_owned() })
    }

    fn parameter(&mut self) -> Result<(String, String), String> {
        let name = self.word("the name of a parameter")?;
        self.symbol(":")?;
        let mut kind = self.word("the type of a parameter")?;
        if self.cursor.take("<") {
            kind = format!("{kind}<{}>", self.word("a type")?);
            self.symbol(">")?;
        }
        Ok((name, kind))
    }
}
