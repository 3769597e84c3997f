//! Conditions over tables of 100,000 rows: the plan of the database names the index.

use portcullis_engine::condition::AttributePath;
use portcullis_engine::sql::{Dialect, ObjectIds, RelatedRows, RowRelation, RowRelations};
use portcullis_engine::{Effect, expression};
use serde_json::{Value, json};

use super::databases::Database;
use super::{columns, compiled, filter, policy, write_with};

const POSTGRES: &str = "
    CREATE TABLE documents (id uuid PRIMARY KEY, owner_id uuid, code text, title text COLLATE \"C\", day date,
        until timestamptz, tags text[], levels bigint[], small integer[], labels varchar(9)[]);
    CREATE TABLE shares (document_id uuid, user_id text, PRIMARY KEY (document_id, user_id));
    INSERT INTO documents SELECT CAST(lpad(to_hex(n), 32, '0') AS uuid), CAST(lpad(to_hex(n % 1000), 32, '0') AS uuid),
        'code-' || n, 'title-' || n, date '2026-01-01' + n % 365, timestamptz '2026-01-01' + n * interval '1 minute',
        ARRAY['tag-' || (n % 300), 'tag-' || (n % 7)], ARRAY[n % 300], ARRAY[n % 300], ARRAY['x'] FROM generate_series(1, 100000) AS n;
    INSERT INTO shares SELECT CAST(lpad(to_hex(n % 100000 + 1), 32, '0') AS uuid), 'user-' || (n % 997)
        FROM generate_series(1, 200000) AS n;
    CREATE INDEX by_tags ON documents USING gin (tags);
    CREATE INDEX by_levels ON documents USING gin (levels);";
const SQLITE: &str = "
    CREATE TABLE documents (id TEXT PRIMARY KEY, owner_id TEXT, code TEXT, title TEXT, day TEXT, until TEXT, tags TEXT);
    CREATE TABLE shares (document_id TEXT, user_id TEXT, PRIMARY KEY (document_id, user_id));
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
    INSERT INTO documents SELECT printf('00000000-0000-0000-0000-%012x', n),
        printf('00000000-0000-0000-0000-%012x', n % 1000), 'code-' || n, 'title-' || n,
        date('2026-01-01', (n % 365) || ' days'),
        strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', n || ' minutes'), json_array('tag-' || (n % 300)) FROM numbers;
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200000)
    INSERT INTO shares SELECT printf('00000000-0000-0000-0000-%012x', n % 100000 + 1), 'user-' || (n % 997) FROM numbers;";
const INDEXES: &str = "
    CREATE INDEX by_owner ON documents (owner_id);
    CREATE INDEX by_code ON documents (code);
    CREATE INDEX by_title ON documents (title);
    CREATE INDEX by_day ON documents (day);
    CREATE INDEX by_until ON documents (until);
    CREATE INDEX by_user ON shares (user_id, document_id);
    ANALYZE;";

const ID: &str = "00000000-0000-0000-0000-000000000011";

/// Returns the columns, without any promise about NULL, and about collations only where order needs one.
fn declared() -> Value {
    json!({
        "resource.id": {"sql": "d.id", "type": "uuid"},
        "resource.owner": {"sql": "d.owner_id", "type": "uuid"},
        "resource.folder": {"sql": "d.owner_id", "type": "uuid", "of": "folder"},
        "resource.code": {"sql": "d.code", "type": "text"},
        "resource.title": {"sql": "d.title", "type": "text", "collation": "binary"},
        "resource.day": {"sql": "d.day", "type": "date"},
        "resource.until": {"sql": "d.until", "type": "timestamptz"},
        "resource.tags": {"sql": "d.tags", "type": "text[]"},
        "resource.levels": {"sql": "d.levels", "type": "integer[]"},
        "resource.small": {"sql": "d.small", "type": "integer[]"},
        "resource.labels": {"sql": "d.labels", "type": "text[]", "collation": "binary"},
        "resource.readers": {
            "pairs": {"table": "shares", "row": "document_id", "value": "user_id"}, "key": "d.id", "type": "text",
        },
    })
}

/// Returns a relation to the documents of a folder, and to one document.
fn relations() -> RowRelations {
    let ids: ObjectIds = [ID.into()].into();
    let attribute = AttributePath::Resource("folder".into());
    let folders =
        RelatedRows::Referring { attribute, objects: vec![("folder".into(), ids.clone())] };
    let rows = RelatedRows::Any(vec![folders, RelatedRows::Ids(ids)]);
    let mut relations = RowRelations::default();
    relations.insert("viewer", Ok(RowRelation { rows, references: Vec::new(), doubt: None }));
    relations
}

/// Returns the plan of the database for the rows that one policy allows.
async fn explained(database: &Database, condition: &str) -> String {
    let tree = expression::parse(condition).expect("an expression");
    let plan = compiled([policy(1, Effect::Allow, 0, tree)], &[]);
    let request = json!({
        "subject": "user-50", "resource": "doc:read", "action": "read",
        "attributes": {"user": {"id": ID, "codes": ["code-7", "code-8"], "level": 40}},
    });
    let filter = filter(&plan, &request);
    let columns = columns(&declared(), database.dialect());
    let sql = write_with(&filter, database.dialect(), &columns, &relations());
    assert_eq!(sql.inexact, [], "{condition}");
    let (explain, column) = match database.dialect() {
        Dialect::Postgres => ("EXPLAIN", 0),
        Dialect::Sqlite => ("EXPLAIN QUERY PLAN", 3),
    };
    let text = format!("{explain} SELECT d.id FROM documents AS d WHERE {}", sql.text);
    let lines: Vec<String> = database.column(text, &sql.params, column).await;
    format!("{condition}: {}\n{}", sql.text, lines.join("\n"))
}

async fn compare(database: &Database, indexes: &[(&str, &[&str])]) {
    database.run(INDEXES).await;
    for (condition, names) in indexes {
        let plan = explained(database, condition).await;
        for name in *names {
            assert!(plan.contains(name), "`{name}` is not used: {plan}");
        }
        assert!(!plan.contains("Seq Scan"), "{plan}");
    }
}

const KEY: &str = "resource.id == user.id";
const OWNER: &str = "resource.owner == user.id && !((resource.code == \"x\") ?? false)";
const TIED: &str = "!(resource.owner != user.id)";
const CODES: &str = "resource.code in user.codes";
const TITLES: &str = r#"resource.title >= "title-7" && resource.title < "title-71""#;
const DAYS: &str = r#"resource.day >= "2026-03-01" && resource.day < "2026-03-04""#;
const UNTIL: &str = r#"resource.until after "2026-03-01T00:00:00Z" && resource.until before "2026-03-02T00:00:00Z""#;
const OWNER_OR_CODE: &str = r#"resource.owner == user.id || resource.code == "code-7""#;
const TAGS: &str = r#"resource.tags contains "tag-40""#;
const VIEWER: &str = "relation.viewer == true";
const READERS: &str = "resource.readers contains request.subject";

#[tokio::test]
async fn sqlite_uses_the_index_of_a_column() {
    let database = Database::sqlite().await;
    database.run(SQLITE).await;
    let indexes: [(&str, &[&str]); 10] = [
        (VIEWER, &["by_owner", "sqlite_autoindex_documents_1"]),
        (KEY, &["sqlite_autoindex_documents_1"]),
        (OWNER, &["by_owner"]),
        (TIED, &["by_owner"]),
        (CODES, &["by_code"]),
        (TITLES, &["by_title"]),
        (DAYS, &["by_day"]),
        (UNTIL, &["by_until"]),
        (OWNER_OR_CODE, &["by_owner", "by_code"]),
        (READERS, &["by_user (user_id=? AND document_id=?)"]),
    ];
    compare(&database, &indexes).await;
}

#[tokio::test]
async fn postgres_uses_the_index_of_a_column() {
    let Some((_own, database)) = Database::postgres().await else { return };
    database.run(POSTGRES).await;
    let indexes: [(&str, &[&str]); 15] = [
        (VIEWER, &["by_owner", "documents_pkey"]),
        (KEY, &["documents_pkey"]),
        (OWNER, &["by_owner"]),
        (TIED, &["by_owner"]),
        (CODES, &["by_code"]),
        (TITLES, &["by_title"]),
        (DAYS, &["by_day"]),
        (UNTIL, &["by_until"]),
        (OWNER_OR_CODE, &["by_owner", "by_code"]),
        (TAGS, &["by_tags"]),
        (r#"any(resource.tags, item == "tag-40")"#, &["by_tags"]),
        (r#"any(resource.tags, item in ["tag-40", "tag-41"])"#, &["by_tags"]),
        ("any(resource.levels, user.level == item)", &["by_levels"]),
        ("resource.levels contains 7", &["by_levels"]),
        (READERS, &["by_user", "documents_pkey"]),
    ];
    compare(&database, &indexes).await;
    // Arrays whose type is near the declared one have no index, but the same meaning.
    for condition in ["resource.small contains 7", r#"resource.labels contains "x""#] {
        explained(&database, condition).await;
    }
}
