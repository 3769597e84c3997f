//! Searches as patterns of whole texts.

use std::borrow::Cow;

use regex_syntax::hir::{Hir, Look};

use super::expression::Pattern;

impl Pattern {
    /// Returns the pattern that must match a whole text and matches the same texts.
    #[must_use]
    pub fn whole(&self) -> Self {
        if !self.is_search() {
            return self.clone();
        }
        match anchored_part(self.source()) {
            Some(part) => Self::new(part),
            None => Self::new(&format!("(?s:.*)(?:{})(?s:.*)", self.in_group())),
        }
    }

    /// Returns an expression that means the same in a group. A comment of the extended mode would hide the end of the group.
    fn in_group(&self) -> Cow<'_, str> {
        let source = self.source();
        let Ok(meaning) = regex_syntax::parse(source) else { return source.into() };
        match regex_syntax::parse(&format!("(?:{source})")) == Ok(meaning.clone()) {
            true => source.into(),
            false => meaning.to_string().into(),
        }
    }
}

/// Returns the expression between `^` and `$`, if both stand for the ends of the text, without a group around it all.
fn anchored_part(source: &str) -> Option<&str> {
    let part = source.strip_prefix('^')?.strip_suffix('$')?;
    let inner = regex_syntax::parse(part).ok()?;
    let ends = [Hir::look(Look::Start), inner.clone(), Hir::look(Look::End)];
    if regex_syntax::parse(source).ok()? != Hir::concat(ends.into()) {
        return None;
    }
    let group = part.strip_prefix("(?:").and_then(|rest| rest.strip_suffix(')'));
    let content = group.filter(|content| regex_syntax::parse(content) == Ok(inner));
    Some(content.unwrap_or(part))
}
