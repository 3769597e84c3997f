//! The body of a plan: one check for all rows of a list (`docs/semantics.md`, section 14).

use portcullis_engine::CheckBody;
use portcullis_engine::fields::{Body, Fields};
use portcullis_engine::filter::RowAttributes;
use portcullis_engine::names::{Variants, named, names};
use portcullis_engine::request::note_misplaced;
use portcullis_engine::sql::{ColumnType, Columns, Dialect, Placeholders};
use serde_json::json;
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::check::Description;
use crate::document;
use crate::schema::{self, Input};

/// The body of `POST /api/v1/plan`, valid by construction.
#[derive(Debug)]
pub struct FilterRequest<'r> {
    /// The check, without the attributes of rows.
    pub check: CheckBody<'r>,
    /// The attributes that rows supply.
    pub rows: RowAttributes,
    /// The form of the condition in SQL; `None` for the tree alone.
    pub sql: Option<SqlOptions>,
    /// Accepts a condition that holds for more rows than are allowed, where no exact one exists.
    pub accepts_superset: bool,
}

/// The form of a condition in SQL.
#[derive(Debug)]
pub struct SqlOptions {
    pub dialect: Dialect,
    pub placeholders: Placeholders,
    pub columns: Columns,
}

/// The answer to a condition that cannot be exact.
#[derive(Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
enum Residual {
    Refuse,
    Check,
}

impl<'r> Body<'r> for FilterRequest<'r> {
    fn read(fields: &mut Fields<'r, '_>) -> Option<Self> {
        let check = CheckBody::declare(fields);
        let rows = fields.optional("unknown", RowAttributes::read);
        let dialect = fields.optional("dialect", named::<Dialect>);
        let placeholders = fields.optional("placeholders", named::<Placeholders>);
        let columns = fields
            // Without a valid dialect the columns are not read, because the dialect decides what they may be.
            .optional("columns", |json, at, problems| Columns::read(json, dialect?, at, problems));
        let residual = fields.optional("residual", named::<Residual>);
        for name in ["placeholders", "columns"] {
            // A dialect with a fault has its own note, and says nothing about the other members.
            if dialect.is_none() && fields.has(name) && !fields.has("dialect") {
                fields.expected_at(name, format!("no `{name}` without `dialect`"));
            }
        }
        note_misplaced(fields);
        Some(Self {
            check: check?,
            rows: rows.unwrap_or_else(RowAttributes::resource),
            sql: dialect.map(|dialect| SqlOptions {
                dialect,
                placeholders: placeholders.unwrap_or_else(|| dialect.placeholders()),
                columns: columns.unwrap_or_default(),
            }),
            accepts_superset: residual == Some(Residual::Check),
        })
    }
}

document!(FilterRequest<'_> as "FilterRequest" => {
    let unknown = schema::list(schema::string()).min_items(Some(1)).max_items(Some(256));
    let unknown = unknown.description(Some(
        "The attributes that rows supply: `resource`, `user`, or single ones such as `resource.owner`; `[\"resource\"]` \
         when absent",
    ));
    Description::for_check()
        .optional("unknown", unknown)
        .optional("dialect", choice::<Dialect>("The database of `sql`; without it the answer has no `sql`"))
        .optional("placeholders", choice::<Placeholders>("The form of parameters; the default is the one of the dialect"))
        .optional("columns", columns())
        .optional("residual", choice::<Residual>("Whether a condition that cannot be exact is refused, or holds for more rows; `refuse` when absent"))
        .example(json!({
            "subject": "dana", "resource": "document:read", "action": "read",
            "attributes": {"user": {"roles": ["editor"]}},
            "dialect": "postgres",
            "columns": {
                "resource.owner": {"sql": "d.owner_id", "type": "text", "nullable": false, "collation": "binary"},
                "resource.readers": {
                    "pairs": {"table": "shares", "row": "document_id", "value": "user_id"},
                    "key": "d.id", "type": "text",
                },
                "resource.parent": {"sql": "d.folder_id", "type": "uuid", "of": "folder"},
            },
        }))
});

fn choice<T: Variants>(about: &str) -> ObjectBuilder {
    schema::choice(names::<T>()).description(Some(about.to_owned()))
}

/// The columns by attribute.
fn columns() -> ObjectBuilder {
    let names = schema::typed(Type::String).pattern(Some("^(user|resource)\\.[^\\u0000]+$"));
    let columns = [column(), presence("present"), presence("absent"), pairs()].map(Into::into);
    schema::typed(Type::Object)
        .property_names(Some(names))
        .max_properties(Some(256))
        .additional_properties(Some(schema::one_of(columns)))
        .description(Some("The column of each attribute of rows, by attribute"))
}

fn column() -> Input {
    schema::input()
        .titled("a column")
        .required("sql", identifier("{0,2}"))
        .required("type", schema::choice(names::<ColumnType>()))
        .optional("nullable", schema::boolean())
        .optional("collation", schema::choice(["binary"]))
        .optional("of", object_type())
}

/// Whether a column has a value, or has none.
fn presence(name: &'static str) -> Input {
    schema::input()
        .titled(match name {
            "present" => "whether a column is not NULL",
            _ => "whether a column is NULL",
        })
        .required(name, identifier("{0,2}"))
        .optional("type", schema::choice(["boolean"]))
}

/// The type of the objects whose bare ids a column has.
fn object_type() -> ObjectBuilder {
    let about = "The type of the objects whose bare ids the column has; with a `type` of texts, UUIDs or integers";
    schema::typed(Type::String).pattern(Some("^[^:]+$")).description(Some(about))
}

fn pairs() -> Input {
    let pairs = schema::input()
        .required("table", identifier("{0,1}"))
        .required("row", identifier(""))
        .required("value", identifier(""));
    schema::input()
        .titled("the values that a table pairs with the row")
        .required("pairs", pairs)
        .required("key", identifier("{1,2}"))
        .required("type", schema::choice(ColumnType::names_for_pairs()))
        .optional("collation", schema::choice(["binary"]))
        .optional("of", object_type())
}

/// A name, and as many others with dots before them as the quantifier `others` says.
fn identifier(others: &str) -> ObjectBuilder {
    let name = "[A-Za-z_][A-Za-z0-9_]{0,62}";
    let others = match others {
        "" => String::new(),
        count => format!("(\\.{name}){count}"),
    };
    schema::typed(Type::String).pattern(Some(format!("^{name}{others}$")))
}

#[cfg(test)]
mod tests {
    use portcullis_engine::json::parse;
    use utoipa::PartialSchema;

    use super::*;
    use crate::schema::AnySchema;

    fn fault(more: &str) -> String {
        let text = format!(r#"{{"subject": "a", "resource": "d:r", "action": "r"{more}}}"#);
        let json = parse(text.as_bytes()).expect("JSON");
        FilterRequest::parse(&json).map_or_else(|invalid| invalid.to_string(), |_| String::new())
    }

    #[test]
    fn the_example_is_accepted() {
        let schema: AnySchema = FilterRequest::schema();
        let schema = serde_json::to_value(schema).expect("a schema");
        let text = schema["examples"][0].to_string();
        let json = parse(text.as_bytes()).expect("JSON");
        let request = FilterRequest::parse(&json).expect("a plan");
        let sql = request.sql.expect("SQL");
        assert_eq!((sql.dialect, sql.placeholders), (Dialect::Postgres, Placeholders::Dollar));
    }

    #[test]
    fn wrong_members_are_named() {
        for (more, expected) in [
            ("", ""),
            (r#", "dialect": "mysql""#, "`/dialect`: expected `postgres` or `sqlite`"),
            (r#", "columns": {}"#, "`/columns`: expected no `columns` without `dialect`"),
            (r#", "placeholders": "named""#, "`/placeholders`: expected no `placeholders`"),
            (
                r#", "dialect": "sqlite", "columns": {"resource.a": {"sql": "a", "type": "text[]"}}"#,
                "`/columns/resource.a/sql`: expected a name with its table",
            ),
            (
                r#", "dialect": "sqlite", "columns": {"resource.a": {"present": "a", "absent": "b"}}"#,
                "`/columns/resource.a/absent`: expected either `present` or `absent`",
            ),
            (
                r#", "dialect": "sqlite", "columns": {"resource.a": {"present": "a", "nullable": true}}"#,
                "`/columns/resource.a/nullable`: expected no `nullable` beside",
            ),
            (
                r#", "dialect": "sqlite", "columns": {"resource.a": {"absent": "a", "type": "text"}}"#,
                "`/columns/resource.a/type`: expected no other `type` than `boolean`",
            ),
            (
                r#", "dialect": "sqlite", "columns": {"resource.a": {"present": "a IS NULL OR b"}}"#,
                "`/columns/resource.a/present`: expected a column",
            ),
            (
                r#", "dialect": "sqlite", "columns": {"resource.a": {"present": null}}"#,
                "field `sql` is missing",
            ),
            (
                r#", "dialect": "sqlite", "columns": {"resource.a": {"absent": "t.a", "type": "boolean"}}"#,
                "",
            ),
            (r#", "residual": "maybe""#, "`/residual`: expected `refuse` or `check`"),
            (r#", "unknown": ["token"]"#, "`/unknown/0`"),
            (r#", "rows": []"#, "field `rows` is unknown"),
            (r#", "roles": []"#, "did you mean `attributes.user.roles`?"),
        ] {
            let fault = fault(more);
            assert!(fault.contains(expected), "{more}: {fault}");
            assert_eq!(fault.is_empty(), expected.is_empty(), "{more}: {fault}");
        }
    }
}
