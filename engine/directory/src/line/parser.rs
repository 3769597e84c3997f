//! The parser: the grammar of a line.

use portcullis_engine::invalid::Fault;

use super::cursor::Cursor;
use super::part::{Factor, LinePart, StoredSubjects, Subjects};

/// The maximum nesting of parentheses and `!`. It bounds the stack of everything that walks through a line.
const MAX_NESTING: usize = 32;

const PART: &str = "`[`, the name of a relation, `!` or `(`";
/// The operators of other languages, each with the one of lines.
const OTHER_JOINTS: [(&str, &str); 9] = [
    ("or", "||"),
    ("|", "||"),
    ("+", "||"),
    (",", "||"),
    ("and", "&&"),
    ("&", "&&"),
    ("but", "&& !"),
    ("-", "&& !"),
    ("->", "."),
];

/// Parses a whole line.
pub(super) fn parse(text: &str) -> Result<LinePart, Fault> {
    let mut parser = Parser { cursor: Cursor::new(text), nesting: 0, has_stored: false };
    let part = parser.any()?;
    match parser.cursor.next() {
        "" => Ok(part),
        _ => Err(parser.expected_joint("the end of the line")),
    }
}

/// A recursive descent parser. Precedence from low to high: `||`, `&&`, `!`, `.`.
struct Parser<'s> {
    cursor: Cursor<'s>,
    nesting: usize,
    /// Whether `[…]` was read.
    has_stored: bool,
}

impl Parser<'_> {
    /// Makes the fault of something next that is neither an operator nor `end`.
    fn expected_joint(&self, end: &str) -> Fault {
        let next = self.cursor.next();
        let other = OTHER_JOINTS.iter().find(|(other, _)| next.eq_ignore_ascii_case(other));
        let hint = other.map(|(_, own)| format!(" (did you mean `{own}`?)")).unwrap_or_default();
        self.cursor.fault(format!("`||`, `&&` or {end}{hint}"))
    }

    fn any(&mut self) -> Result<LinePart, Fault> {
        let first = self.all()?;
        if self.cursor.next() != "||" {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.cursor.take("||") {
            parts.push(self.all()?);
        }
        // Parentheses around alternatives change nothing: `a || (b || c)` is one list.
        let flat = parts.into_iter().flat_map(|part| match part {
            LinePart::Any(parts) => parts,
            part => vec![part],
        });
        Ok(LinePart::Any(flat.collect()))
    }

    fn all(&mut self) -> Result<LinePart, Fault> {
        let mut factors = vec![self.factor()?];
        while self.cursor.take("&&") {
            factors.push(self.factor()?);
        }
        if let Some(position) = first_negation(&factors) {
            let expected = "a part without `!` beside it, as in `viewer && !banned`";
            return Err(Fault::Token { expected: expected.into(), token: "!".into(), position });
        }
        if factors.len() == 1 {
            return Ok(factors.remove(0).part);
        }
        // A `!` before parentheses is about all that they contain, which stays one factor.
        let flat = factors.into_iter().flat_map(|factor| match factor {
            Factor { part: LinePart::All(factors), negation: None } => factors,
            factor => vec![factor],
        });
        Ok(LinePart::All(flat.collect()))
    }

    fn factor(&mut self) -> Result<Factor, Fault> {
        let negation = Some(self.cursor.position());
        if !self.cursor.take("!") {
            return Ok(Factor { part: self.part()?, negation: None });
        }
        if self.cursor.next() == "!" {
            return Err(self.cursor.fault("one `!`, since `!!` says nothing"));
        }
        Ok(Factor { part: self.part()?, negation })
    }

    fn part(&mut self) -> Result<LinePart, Fault> {
        match self.cursor.next() {
            "(" => self.group(),
            "[" => self.stored(),
            _ => self.path(),
        }
    }

    fn group(&mut self) -> Result<LinePart, Fault> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.cursor.fault(format!("parentheses at most {MAX_NESTING} deep")));
        }
        self.cursor.take("(");
        let part = self.any()?;
        if !self.cursor.take(")") {
            return Err(self.expected_joint("`)`"));
        }
        self.nesting -= 1;
        Ok(part)
    }

    fn path(&mut self) -> Result<LinePart, Fault> {
        let mut words = vec![self.cursor.word(PART)?];
        while self.cursor.take(".") {
            words.push(self.cursor.word("the name of a relation after `.`")?);
        }
        Ok(LinePart::Path(words))
    }

    fn stored(&mut self) -> Result<LinePart, Fault> {
        if self.has_stored {
            return Err(self.cursor.fault("one `[…]`, in which all types stand"));
        }
        self.has_stored = true;
        self.cursor.take("[");
        let mut all = vec![self.subjects()?];
        while self.cursor.take(",") {
            let next = self.subjects()?;
            if all.contains(&next) {
                return Err(next.subject_type.fault("each type once"));
            }
            all.push(next);
        }
        match self.cursor.take("]") {
            true => Ok(LinePart::Stored(all)),
            false => Err(self.cursor.fault("`,`, `]`, `#` and a relation, or `:*`")),
        }
    }

    fn subjects(&mut self) -> Result<StoredSubjects, Fault> {
        let subject_type = self.cursor.type_name();
        let subject_type =
            subject_type.ok_or_else(|| self.cursor.fault("a type, such as `user`"))?;
        let which = if self.cursor.take("#") {
            Subjects::Related(self.cursor.word("the name of a relation after `#`")?)
        } else if self.cursor.take(":") {
            match self.cursor.take("*") {
                true => Subjects::Everyone,
                false => return Err(self.cursor.fault("`*` after `:`, for everybody of the type")),
            }
        } else {
            Subjects::One
        };
        Ok(StoredSubjects { subject_type, which })
    }
}

/// Returns the place of the first `!`, if no factor is positive.
fn first_negation(factors: &[Factor]) -> Option<usize> {
    let all: Option<Vec<usize>> = factors.iter().map(|factor| factor.negation).collect();
    all?.first().copied()
}
