//! The canonical text of a line.

use std::fmt;

use super::part::{LinePart, StoredSubjects, Subjects, Word};

impl fmt::Display for LinePart {
    /// Writes the part with the fewest parentheses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored(subjects) => {
                f.write_str("[")?;
                joined(subjects, ", ", f, stored)?;
                f.write_str("]")
            }
            Self::Path(words) => joined(words, ".", f, |Word { text, .. }, f| f.write_str(text)),
            Self::Any(parts) => joined(parts, " || ", f, fmt::Display::fmt),
            Self::All(factors) => joined(factors, " && ", f, |factor, f| {
                if factor.negation.is_some() {
                    f.write_str("!")?;
                }
                match &factor.part {
                    part @ (Self::Any(_) | Self::All(_)) => write!(f, "({part})"),
                    part => write!(f, "{part}"),
                }
            }),
        }
    }
}

fn stored(subjects: &StoredSubjects, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(&subjects.subject_type.text)?;
    match &subjects.which {
        Subjects::One => Ok(()),
        Subjects::Related(relation) => write!(f, "#{}", relation.text),
        Subjects::Everyone => f.write_str(":*"),
    }
}

fn joined<T>(
    items: &[T],
    joint: &str,
    f: &mut fmt::Formatter<'_>,
    write: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(joint)?;
        }
        write(item, f)?;
    }
    Ok(())
}
