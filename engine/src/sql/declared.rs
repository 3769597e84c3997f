//! Columns beside the declared types of their attributes.

use super::columns::{Column, Columns, Kind, Presence, ScalarType};
use crate::condition::AttributePath;
use crate::excerpt::quoted;
use crate::invalid::{Place, Problems};
use crate::resource::ResourcePattern;
use crate::types::{PropertyType, Types};

impl Columns {
    /// Notes at `at` the columns of attributes that `types` do not declare, in namespaces that have declared properties, and
    /// those whose type does not fit. The rows are of the type `of`. What `is_known` holds for needs no declaration.
    pub fn check(
        &self,
        (types, of): (&Types, &str),
        is_known: impl Fn(&AttributePath) -> bool,
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        let rows = ResourcePattern::Name(of.to_owned());
        let mut columns: Vec<_> =
            self.iter().map(|(path, column)| (path.to_string(), path, column)).collect();
        // Columns are in no order, and their faults must be.
        columns.sort_unstable_by(|(a, ..), (b, ..)| a.cmp(b));
        for (shown, path, column) in columns {
            let Some((namespace, name)) = path.sent() else { continue };
            let Some(declared) = types.declared_in(namespace, &rows) else { continue };
            let at = at.key(&shown);
            if declared.is_open(name) {
                continue;
            }
            let kinds = declared.kinds(name);
            if kinds.is_empty() {
                if !is_known(path) {
                    problems.expected(&at, declared.expected(name, &format!("{namespace}.")));
                }
            } else if !kinds.iter().any(|kind| column.fits(*kind)) {
                let types =
                    kinds.iter().map(|kind| types_for(*kind)).collect::<Vec<_>>().join(", or ");
                let declared = declared.declared_types(name).into_iter().collect::<Vec<_>>();
                let declared = declared.join(" or ");
                let what = format!("{types}, because {} is declared as {declared}", quoted(&shown));
                problems.expected(&at.key(column.member_of_type()), what);
            }
        }
    }
}

impl Column {
    /// Returns whether a property of this type can have the values of the column.
    fn fits(&self, kind: PropertyType) -> bool {
        let Kind::Scalar(own) = self.kind else {
            return matches!(kind, PropertyType::Texts | PropertyType::Numbers);
        };
        if self.of.is_some() {
            return kind == PropertyType::Text;
        }
        match kind {
            PropertyType::Text => own.is_text(),
            PropertyType::Number => matches!(own, ScalarType::Integer | ScalarType::Number),
            PropertyType::Boolean => own == ScalarType::Boolean,
            PropertyType::Datetime => matches!(own, ScalarType::Instant | ScalarType::Text),
            PropertyType::Ip => own == ScalarType::Text,
            PropertyType::Texts | PropertyType::Numbers => false,
        }
    }

    /// Returns the member of the column that says its type.
    fn member_of_type(&self) -> &'static str {
        match self.presence {
            None => "type",
            Some(Presence::Present) => "present",
            Some(Presence::Absent) => "absent",
        }
    }
}

/// Completes "expected …" for the column of a property of this type.
fn types_for(kind: PropertyType) -> &'static str {
    match kind {
        PropertyType::Text => "`text`, `uuid` or `date`, or a column with `of`",
        PropertyType::Number => "`integer` or `number`",
        PropertyType::Boolean => "`boolean`, or a column with `present` or `absent`",
        PropertyType::Datetime => "`timestamptz` or `text`",
        PropertyType::Ip => "`text`",
        PropertyType::Texts | PropertyType::Numbers => "an array such as `text[]`, or `pairs`",
    }
}
