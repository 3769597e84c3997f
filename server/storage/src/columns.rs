//! Many records as one text, in which the length of each column stands before it: a row of its own for each record takes
//! longer to read than all the rest of it.

/// Columns, each with its length before it: `<bytes>:<text>`.
pub(crate) struct Columns<'t>(&'t str);

impl<'t> Columns<'t> {
    /// Returns the columns of `text`.
    pub(crate) fn of(text: &'t str) -> Self {
        Self(text)
    }

    /// Returns whether no column is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the next column; `None` at the end, or if the text has another form.
    pub(crate) fn next(&mut self) -> Option<&'t str> {
        let (length, rest) = self.0.split_once(':')?;
        let (column, rest) = rest.split_at_checked(length.parse().ok()?)?;
        self.0 = rest;
        Some(column)
    }
}
