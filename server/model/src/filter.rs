//! The body of a plan: one check for all rows of a list (`docs/semantics.md`, section 14).

use portcullis_engine::fields::Fields;
use portcullis_engine::filter::RowAttributes;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::sql::{ColumnType, Columns, Dialect, Placeholders};
use portcullis_engine::{CheckBody, Invalid, Json};
use serde_json::json;
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

/// The two values of `residual`.
const RESIDUAL: [(bool, &str); 2] = [(false, "refuse"), (true, "check")];

impl<'r> FilterRequest<'r> {
    /// Reads the body.
    ///
    /// # Errors
    /// Every missing, unknown or ill-typed field, by JSON pointer.
    pub fn parse(json: &'r Json<'r>) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let body = Self::read(json, &mut problems);
        problems.finish(body)
    }

    fn read(json: &'r Json<'r>, problems: &mut Problems) -> Option<Self> {
        let at = Place::root();
        let mut fields = Fields::open(json, &at, problems)?;
        let check = CheckBody::declare(&mut fields);
        let rows = fields.optional("unknown", RowAttributes::read);
        let dialect = fields.optional("dialect", choice(&Dialect::ALL));
        let placeholders = fields.optional("placeholders", choice(&Placeholders::ALL));
        let columns = fields.optional("columns", Columns::read);
        let residual = fields.optional("residual", choice(&RESIDUAL));
        for name in ["placeholders", "columns"] {
            if dialect.is_none() && fields.has(name) && !fields.has("dialect") {
                fields.expected_at(name, format!("no `{name}` without `dialect`"));
            }
        }
        fields.misplaced("roles", "attributes.user.roles");
        fields.close();
        Some(Self {
            check: check?,
            rows: rows.unwrap_or_else(RowAttributes::resource),
            sql: dialect.map(|dialect| SqlOptions {
                dialect,
                placeholders: placeholders.unwrap_or_else(|| dialect.placeholders()),
                columns: columns.unwrap_or_default(),
            }),
            accepts_superset: residual.unwrap_or_default(),
        })
    }
}

/// Reads one of the values of a table, by its name.
fn choice<T: Copy, const N: usize>(
    table: &[(T, &'static str); N],
) -> impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<T> {
    let table = *table;
    move |json, at, problems| {
        let known = table.iter().find(|(_, name)| json.as_str() == Some(*name));
        if known.is_none() {
            let names = table.map(|(_, name)| format!("`{name}`"));
            problems.expected(at, format!("one of {}", names.join(", ")));
        }
        known.map(|(value, _)| *value)
    }
}

/// The body of a plan, as the document describes it.
pub struct FilterBody;

document!(FilterBody as "FilterRequest" => {
    let unknown = schema::list(schema::string()).min_items(Some(1)).max_items(Some(256));
    let unknown = unknown.description(Some(
        "The attributes that rows supply: `resource`, `user`, or single ones such as `resource.owner`; `[\"resource\"]` \
         when absent",
    ));
    let names = |about: &str, names: &[&'static str]| {
        schema::choice(names.iter().copied()).description(Some(about.to_owned()))
    };
    Description::of_check()
        .optional("unknown", unknown)
        .optional("dialect", names("The database of `sql`; without it the answer has no `sql`", &Dialect::ALL.map(|it| it.1)))
        .optional("placeholders", names("The form of parameters; the default is the one of the dialect", &Placeholders::ALL.map(|it| it.1)))
        .optional("columns", columns())
        .optional("residual", names("Whether a condition that cannot be exact is refused, or holds for more rows; `refuse` when absent", &RESIDUAL.map(|it| it.1)))
        .example(json!({
            "subject": "dana", "resource": "document:read", "action": "read",
            "attributes": {"user": {"roles": ["editor"]}},
            "dialect": "postgres",
            "columns": {"resource.owner": {"sql": "d.owner_id", "type": "text"}},
        }))
});

/// The columns by attribute.
fn columns() -> ObjectBuilder {
    let name = "[A-Za-z_][A-Za-z0-9_]{0,62}";
    let identifier =
        schema::typed(Type::String).pattern(Some(format!("^{name}(\\.{name}){{0,2}}$")));
    let column: Input = schema::input()
        .required("sql", identifier)
        .required("type", schema::choice(ColumnType::ALL.map(|(_, name)| name)))
        .optional("nullable", schema::boolean())
        .optional("collation", schema::choice(["binary"]));
    let names = schema::typed(Type::String).pattern(Some("^(user|resource)\\.[^\\u0000]+$"));
    schema::typed(Type::Object)
        .property_names(Some(names))
        .max_properties(Some(256))
        .additional_properties(Some(crate::schema::AnySchema::from(column)))
        .description(Some("The column of each attribute of rows, by attribute"))
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
        let schema: AnySchema = FilterBody::schema();
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
            (r#", "dialect": "mysql""#, "`/dialect`: expected one of `postgres`, `sqlite`"),
            (r#", "columns": {}"#, "`/columns`: expected no `columns` without `dialect`"),
            (r#", "placeholders": "named""#, "`/placeholders`: expected no `placeholders`"),
            (r#", "residual": "maybe""#, "`/residual`: expected one of `refuse`, `check`"),
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
