//! The parser of models in OpenFGA's modeling language (schema 1.1 and 1.2).

use crate::relations::model::{Model, ModelRelation, ModelType, Restriction, Rewrite};
use crate::relations::model_text::{ModelText, Syntax};
use crate::relations::place::Place;
use crate::relations::system::OPENFGA;

/// Parses the text of a model, whose first line is at `start`.
///
/// # Errors
/// The first fault, with its place.
pub(super) fn parse(text: &str, start: &Place) -> Result<Model, String> {
    Parser { text: ModelText::new(text, Syntax::Model, start) }.model()
}

struct Parser<'s> {
    text: ModelText<'s>,
}

impl Parser<'_> {
    fn model(&mut self) -> Result<Model, String> {
        let mut model = Model { is_module: self.text.take("module"), ..Model::new(&OPENFGA) };
        if model.is_module {
            self.text.word("the name of the module")?;
        } else {
            self.text.symbol("model")?;
            self.text.symbol("schema")?;
            // Older schemas have relations without types of users.
            if !self.text.take("1.1") && !self.text.take("1.2") {
                return Err(self.text.expected("schema `1.1` or `1.2`"));
            }
        }
        loop {
            match self.text.next() {
                "" => return Ok(model),
                "type" => model.types.push(self.model_type()?),
                "condition" => model.conditions.push(self.text.condition("condition", Some(":"))?),
                "extend" if model.is_module => {
                    self.text.symbol("extend")?;
                    model.extensions.push(self.model_type()?);
                }
                _ => return Err(self.text.expected("`type`, `define` or `condition`")),
            }
        }
    }

    fn model_type(&mut self) -> Result<ModelType, String> {
        let place = self.text.place();
        self.text.symbol("type")?;
        let name = self.text.word("the name of a type")?;
        let mut found = ModelType { name, place, relations: Vec::new() };
        if self.text.take("relations") {
            while self.text.next() == "define" {
                found.add(self.relation()?)?;
            }
        }
        Ok(found)
    }

    fn relation(&mut self) -> Result<ModelRelation, String> {
        let place = self.text.place();
        self.text.symbol("define")?;
        let name = self.text.word("the name of a relation")?;
        self.text.symbol(":")?;
        Ok(ModelRelation { name, place, rewrite: self.rewrite()? })
    }

    /// Parses operands with one operator between them; `but not` stands once.
    fn rewrite(&mut self) -> Result<Rewrite, String> {
        let first = self.operand()?;
        let rewrite = match self.text.next() {
            "or" => Rewrite::Any(self.operands(first, "or")?),
            "and" => Rewrite::All(self.operands(first, "and")?),
            "but" => {
                self.text.symbol("but")?;
                self.text.symbol("not")?;
                // A `but not` takes one operand, so a second one needs parentheses.
                Rewrite::Except(Box::new(first), Box::new(self.operand()?))
            }
            _ => first,
        };
        match self.text.next() {
            // The language has no precedence of its operators.
            "or" | "and" | "but" => {
                Err(self.text.expected("parentheses around one of two different operators"))
            }
            _ => Ok(rewrite),
        }
    }

    fn operands(&mut self, first: Rewrite, operator: &str) -> Result<Vec<Rewrite>, String> {
        let mut operands = vec![first];
        while self.text.take(operator) {
            operands.push(self.operand()?);
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Result<Rewrite, String> {
        if self.text.open()? {
            let rewrite = self.rewrite()?;
            self.text.close()?;
            return Ok(rewrite);
        }
        if self.text.take("[") {
            return self.direct();
        }
        let relation = self.text.word("`[`, `(` or the name of a relation")?;
        if !self.text.take("from") {
            return Ok(Rewrite::Computed(relation));
        }
        let parents = self.text.word("the name of a relation after `from`")?;
        Ok(Rewrite::From { relation, parents })
    }

    fn direct(&mut self) -> Result<Rewrite, String> {
        let mut restrictions = vec![self.restriction()?];
        while self.text.take(",") {
            restrictions.push(self.restriction()?);
        }
        self.text.symbol("]")?;
        Ok(Rewrite::Direct(restrictions))
    }

    fn restriction(&mut self) -> Result<Restriction, String> {
        let user_type = self.text.word("the name of a type")?;
        let which = self.text.users()?;
        let condition = match self.text.take("with") {
            true => Some(self.text.word("the name of a condition")?),
            false => None,
        };
        Ok(Restriction { user_type, which, condition, expires: false })
    }
}
