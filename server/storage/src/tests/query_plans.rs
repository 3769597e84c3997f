//! The query plans of the statements of this crate: each finds its rows, or is named here with the reason why it does not.

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row as _};

use super::statements::{begins_statement, is_of_postgres, is_of_sqlite, sources, statements};
use crate::commits::audit;
use crate::content::conditions;
use crate::content::plan_conditions::POLICIES_WITH_NAMES;
use crate::content::plan_records::{FACTS, POLICIES, POLICIES_BETWEEN, RULES, RULES_BETWEEN, USED};
use crate::people::entities::{found, names};
use crate::people::relations::{TupleFilter, stored};
use crate::testing::{TestDatabase, on_every_database};
use crate::transactions::macros::fetch_all;
use crate::transactions::row_lists::BATCH;
use crate::transactions::tx::{Inner, Tx};

on_every_database!(
    every_statement_finds_its_rows_without_statistics,
    every_statement_finds_its_rows_with_statistics,
);

/// Tables, and indexes, of which a tenant has few rows: to read all of them is cheap.
const SMALL: &[&str] = &[
    // Quotas keep them few.
    "webhooks",
    "webhook_lanes",
    "webhook_lanes_held",
    "resolvers",
    "resolvers_by_module",
    "resolver_modules",
    "roles",
    "types",
    "conditions",
    "drafts",
    "proposals",
    "identity_providers",
    // One row for each source that syncs.
    "entity_syncs",
    "relation_syncs",
    // One row for each tenant.
    "tenant_settings",
    "tenant_cases",
    "drafts_in_shadow",
    // Indexes of rows that go soon.
    "deleted_entities",
    "deleted_relations",
    "plan_sizes_gone",
    "tenants_closed",
    "tenants_deleting",
    // Tables of the databases themselves.
    "_sqlx_migrations",
    "pg_authid",
    "pg_class",
    "pg_database",
    "pg_namespace",
];

/// Statements that walk a tenant or a table, each known by a part, and why they have to.
const WALKS: &[(&str, &[&str])] = &[
    (
        "what is asked for is all that a tenant has",
        &[
            "FROM resources WHERE tenant_id = $1 ORDER BY id",
            "FROM rbac_rules WHERE tenant_id = $1 ORDER BY id",
            "FROM abac_policies WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY id",
            "FROM abac_policies WHERE tenant_id = $1 AND deleted_at IS NULL AND enabled ORDER BY id",
            "(CAST($2 AS TEXT) IS NULL OR managed_by = $2)",
            "SELECT CAST(COALESCE(SUM(octet_length(",
            "(sub LIKE '%@%' OR sub LIKE '%#%')",
            "SELECT id, resource, format, enabled, rule_data FROM abac_policies",
            "SUM(ended_at), 0) AS BIGINT) FROM decision_erasures",
            "SELECT COUNT(*) FROM decision_erasures",
            "SELECT tenant_id, subject, erased_at FROM decision_erasures WHERE tenant_id ",
            // A tenant has at most 10,000.
            "DELETE FROM decision_erasures WHERE tenant_id = $1 AND ended_at < $2",
        ],
    ),
    (
        "a page is what follows in the order of the key, and a list is read to its end, or nearly",
        &[
            "(CAST($2 AS TEXT) IS NULL OR type = $2) AND (type, id) > ($3, $4)",
            "FROM entities WHERE tenant_id = $1 AND (type, id) > ($2, $3)",
            "AND (object_type, object_id, relation, subject_type, subject_id, subject_relation) > (",
            "AND (kind, record) > ($4, $5)",
        ],
    ),
    (
        "one row is read, or some, from an end of the index",
        &[
            "SELECT MIN(obj) FROM rbac_rules",
            "SELECT MIN(resource) FROM abac_policies",
            "COALESCE(MIN(revision), $2) FROM revisions",
            "FROM tenants ORDER BY changed DESC LIMIT 1",
            "FROM tenants WHERE id <> $1 ORDER BY changed DESC LIMIT 1",
            "FROM webhook_events WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1",
            "FROM audit_records WHERE tenant_id = $1 ORDER BY id LIMIT 1",
            "SELECT name FROM resources WHERE tenant_id = $1 LIMIT 1",
            "SELECT name FROM resources WHERE tenant_id = $1 ORDER BY name LIMIT $2",
        ],
    ),
    (
        "SQLite looks whether some row refers to the tenant, and reads the first",
        &["INSERT INTO tenants (id, ", "DELETE FROM tenants WHERE id = $1"],
    ),
    (
        "SQLite looks whether a delivery refers to the event, and takes no index that a statement names",
        &["DELETE FROM webhook_events WHERE tenant_id = $1 AND id = $2 AND NOT EXISTS"],
    ),
    (
        "no request runs it: the service looks through its tenants or files from time to time, or as it starts",
        &[
            "FROM revisions GROUP BY tenant_id",
            "SUM(bytes) OVER (ORDER BY revision DESC)",
            "FROM decision_erasures WHERE pending",
            "SELECT id FROM tenants ORDER BY id",
            "FROM tenants WHERE entities_revision > 0",
            "FROM tenants WHERE suspended_at IS NOT NULL OR deleting_at IS NOT NULL",
            "FROM tenants WHERE deleting_at IS NOT NULL",
            "WITH found AS (",
            "WHERE changed > (SELECT portcullis_change())",
            "DELETE FROM audit_records",
            "FROM audit_records GROUP BY tenant_id",
            "ORDER BY id DESC LIMIT 1 OFFSET $2",
            "WITH RECURSIVE ended(seq, replaces)",
            "FROM decision_files f WHERE f.path = decision_uploads.path",
            "FROM decision_files f WHERE f.gone_at IS NULL",
            "FROM decision_uploads WHERE begun_at < $1",
            "DELETE FROM decision_parts WHERE tenant_id = $1",
            "UPDATE decision_parts SET expires_at",
            "FROM decision_parts WHERE expires_at <= $1",
            "FROM record_answers WHERE at < $1",
            "FROM console_sessions WHERE ends_at <= $1",
            "FROM console_links WHERE expires_at <= $1",
        ],
    ),
];

/// Statements to which their callers add ids.
const COMPLETED: [&str; 3] = [
    "UPDATE abac_policies SET deleted_at = $2 WHERE tenant_id = $1",
    "DELETE FROM rbac_rules WHERE tenant_id = $1",
    "DELETE FROM resources WHERE tenant_id = $1",
];

/// The tenant of the transactions.
const TENANT: &str = "t1";

/// Rows of each table, in the tenants `t0` to `t2`.
const ROWS: u32 = 6_000;

/// Returns every statement, with single spaces.
fn every_statement(tx: &Tx) -> Vec<String> {
    let statements = statements().into_iter().chain(assembled(tx));
    let spaced = statements.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    let completed = spaced.map(|it| match COMPLETED.contains(&&*it) {
        true => format!("{it} AND id IN (${})", if it.contains("$2") { 3 } else { 2 }),
        false => it,
    });
    completed.collect()
}

/// Returns the statements that are put together from parts.
fn assembled(tx: &Tx) -> Vec<String> {
    let pair = Some(("a", "b"));
    let filters = [
        TupleFilter::default(),
        TupleFilter { object: pair, ..TupleFilter::default() },
        TupleFilter { object_type: Some("a"), ..TupleFilter::default() },
        TupleFilter { subject: pair, ..TupleFilter::default() },
        TupleFilter { source: Some("a"), ..TupleFilter::default() },
    ];
    let both = [
        RULES,
        POLICIES,
        RULES_BETWEEN,
        POLICIES_BETWEEN,
        FACTS,
        conditions::USERS,
        POLICIES_WITH_NAMES,
    ]
    .map(|it| tx.statement(&it));
    let audit = [audit::PAGES_OF_TENANT, audit::PAGES_OF_ALL];
    let audit = audit.into_iter().flat_map(|[sqlite, postgres]| tx.either(sqlite, postgres));
    let look_ups = look_ups(tx).map(|(statement, _)| statement);
    let tuples = filters.iter().flat_map(TupleFilter::pages);
    let some_tuples = filters[1..].iter().map(TupleFilter::some);
    both.into_iter()
        .chain(audit)
        .chain(tuples)
        .chain(some_tuples)
        .map(str::to_owned)
        .chain(look_ups)
        .chain(formatted())
        .collect()
}

/// Returns the look-ups by many keys, and the number of columns of a key.
fn look_ups(tx: &Tx) -> [(String, usize); 4] {
    [found::LOOK_UP, stored::LOOK_UP, USED, names::HELD].map(|look_up| {
        let statement = tx.either(look_up.of_values(BATCH), look_up.of_arrays());
        (statement, look_up.key.len())
    })
}

/// Returns the statements that the sources of this crate format, with tables, columns and keys in the place of their parts.
fn formatted() -> Vec<String> {
    const PARTS: [[(&str, &str); 8]; 2] = [
        [
            ("{syncs}", "entity_syncs"),
            ("{records}", "entities"),
            ("{count}", "entities"),
            ("{table}", "webhooks"),
            ("{column}", "secret"),
            ("{key}", "id"),
            ("{rows}", "500"),
            ("{names}", "$2, $3"),
        ],
        [
            ("{syncs}", "relation_syncs"),
            ("{records}", "relations"),
            ("{count}", "tuples"),
            ("{table}", "resolvers"),
            ("{column}", "secrets"),
            ("{key}", "id"),
            ("{rows}", "500"),
            ("{names}", "$2, $3"),
        ],
    ];
    let mut statements = Vec::new();
    // Look-ups are assembled.
    for (_, source) in sources().iter().filter(|(path, _)| !path.ends_with("row_lists.rs")) {
        let texts =
            source.split("format!(").skip(1).filter_map(|it| it.trim_start().strip_prefix('"'));
        let texts = texts.filter_map(|it| it.split('"').next());
        for text in texts.filter(|it| begins_statement(it)) {
            for parts in PARTS {
                let text = text.replace("\\\n", " ");
                let text = parts.iter().fold(text, |text, (part, value)| text.replace(part, value));
                statements.push(text);
            }
        }
    }
    assert!(statements.len() >= 18, "only {} were found", statements.len());
    statements
}

/// Returns the columns of all tables: table, column, type, and whether it can be null.
async fn columns(tx: &mut Tx) -> Vec<(String, String, String, bool)> {
    const SQLITE: &str = "SELECT m.name, c.name, c.type, NOT c.\"notnull\" FROM sqlite_schema m, \
        pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE '%sql%'";
    const POSTGRES: &str = "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), \
        CAST(data_type AS TEXT), is_nullable = 'YES' FROM information_schema.columns \
        WHERE table_schema = current_schema() AND table_name NOT LIKE '%sql%' \
        ORDER BY table_name, ordinal_position";
    let sql = tx.either(SQLITE, POSTGRES);
    fetch_all!(tx, (String, String, String, bool), sql).expect("columns")
}

/// Returns the value of a column in row `i`.
fn value(column: &str, kind: &str, is_nullable: bool) -> String {
    const FLAGS: [&str; 8] =
        ["is_deleted", "denials", "pending", "deleted", "leaving", "complete", "shadow", "slow"];
    let value = match (column, kind.to_lowercase().as_str()) {
        ("tenant_id", _) => "'t' || (i % 3)",
        ("effect", _) => "'allow'",
        ("origin", _) => "'explicit'",
        ("enabled", "integer" | "boolean") => "(i % 50 > 0)",
        (column, "integer" | "boolean") if FLAGS.contains(&column) => "(i % 50 = 0)",
        (_, "text") => "'x' || i",
        (_, "integer" | "bigint") => "i",
        (_, "boolean") => "FALSE",
        (_, "blob") => "randomblob(16)",
        (_, "uuid") => "gen_random_uuid()",
        (_, "bytea") => "decode(md5('' || i), 'hex')",
        (column, kind) => panic!("no value for `{column}`, a `{kind}`"),
    };
    match is_nullable {
        true => format!("CASE WHEN i % 50 = 0 THEN {value} END"),
        false => value.to_owned(),
    }
}

/// Fills every table. Foreign keys and triggers are off.
async fn fill(database: &TestDatabase, columns: &[(String, String, String, bool)]) {
    let mut script = String::from(match database {
        TestDatabase::Sqlite(_) => "PRAGMA foreign_keys = OFF;",
        TestDatabase::Postgres(_) => "SET session_replication_role = replica;",
    });
    for columns in columns.chunk_by(|a, b| a.0 == b.0) {
        let names: Vec<_> = columns.iter().map(|it| it.1.as_str()).collect();
        let values: Vec<_> = columns.iter().map(|it| value(&it.1, &it.2, it.3)).collect();
        script += &format!(
            "INSERT INTO {} ({}) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
            WHERE i < {ROWS}) SELECT {} FROM n WHERE TRUE ON CONFLICT DO NOTHING;",
            columns[0].0,
            names.join(", "),
            values.join(", ")
        );
    }
    run(database, script).await;
}

/// Runs a script past the walls of tenants.
async fn run(database: &TestDatabase, script: String) {
    let url = database.url();
    let script = sqlx::raw_sql(AssertSqlSafe(script));
    match database {
        TestDatabase::Sqlite(_) => {
            let mut connection = SqliteConnection::connect(&url).await.expect("connects");
            script.execute(&mut connection).await.map(drop).expect("works");
        }
        TestDatabase::Postgres(_) => {
            let url = url.replacen("portcullis@", "postgres@", 1);
            let mut connection = PgConnection::connect(&url).await.expect("connects");
            script.execute(&mut connection).await.map(drop).expect("works");
        }
    }
}

/// Returns the lines of the plan of a statement; `None` if it is of the other database.
async fn plan(tx: &mut Tx, statement: &str) -> Option<Vec<String>> {
    let parameters = (1..).take_while(|it| statement.contains(&format!("${it}"))).count();
    match &mut tx.inner {
        Inner::Sqlite(connection) if !is_of_postgres(statement) => {
            let sql = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
            // With statistics, SQLite plans for the values.
            let query = (0..parameters).fold(sqlx::query(sql), |query, _| query.bind(TENANT));
            let rows = query.fetch_all(&mut **connection).await;
            let rows = rows.unwrap_or_else(|error| panic!("{statement}: {error}"));
            Some(rows.iter().map(|row| row.get("detail")).collect())
        }
        Inner::Postgres(connection) if !is_of_sqlite(statement) => {
            let nulls = vec!["NULL"; parameters].join(", ");
            let nulls = if nulls.is_empty() { nulls } else { format!("({nulls})") };
            let prepare = AssertSqlSafe(format!("PREPARE planned AS {statement}"));
            let prepared = connection.execute(sqlx::raw_sql(prepare)).await;
            prepared.unwrap_or_else(|error| panic!("{statement}: {error}"));
            let explain = AssertSqlSafe(format!("EXPLAIN EXECUTE planned{nulls}"));
            let rows = connection.fetch_all(sqlx::raw_sql(explain)).await;
            let rows = rows.unwrap_or_else(|error| panic!("{statement}: {error}"));
            connection.execute("DEALLOCATE planned").await.expect("works");
            Some(rows.iter().map(|row| row.get(0)).collect())
        }
        _ => None,
    }
}

/// Returns the steps of a plan of SQLite that walk a table or a tenant.
fn walks_of_sqlite(plan: &[String], statement: &str, tables: &[&str]) -> Vec<String> {
    let is_table = |name: &str| {
        let is = |table: &&str| {
            *table == name
                || [" ", " AS "].iter().any(|it| statement.contains(&format!("{table}{it}{name}")))
        };
        tables.iter().any(is)
    };
    let walks = |step: &&String| {
        let scans = step.strip_prefix("SCAN ").and_then(|it| it.split(' ').next());
        // A range of several columns that begins with the tenant's first row.
        let is_range = step.contains("(tenant_id=? AND (");
        scans.is_some_and(is_table) || step.ends_with("(tenant_id=?)") || is_range
    };
    plan.iter().filter(walks).cloned().collect()
}

/// Returns the steps of a plan of PostgreSQL that walk a table or a tenant.
fn walks_of_postgres(plan: &[String]) -> Vec<String> {
    let mut walks = Vec::new();
    for (index, line) in plan.iter().enumerate() {
        let line = line.trim().trim_start_matches("->").trim();
        let node = line.split("  (cost").next().unwrap_or(line);
        let condition = plan.get(index + 1).map(|it| it.trim()).unwrap_or_default();
        let by_tenant = condition.starts_with("Index Cond: ")
            && condition.contains("tenant_id = ")
            && !condition.contains(" AND ");
        let is_index = ["Index Scan", "Index Only Scan", "Bitmap Index Scan"]
            .iter()
            .any(|it| node.starts_with(it));
        if node.starts_with("Seq Scan")
            || is_index && (by_tenant || !condition.starts_with("Index Cond: "))
        {
            walks.push(format!("{node} {condition}"));
        }
    }
    walks
}

/// Returns whether a step of a plan reads this table or index.
fn is_named(step: &str, name: &str) -> bool {
    // PostgreSQL writes a condition behind the step, which begins with a word and a colon.
    let step = step.split(':').next().unwrap_or(step);
    step.split(' ').any(|word| {
        let rest = word.strip_prefix(name);
        // PostgreSQL names an index after its table and columns, and a second use of a table by a number.
        rest.is_some_and(|rest| rest.is_empty() || rest == "_pkey" || rest == "_1")
    })
}

async fn every_statement_finds_its_rows_without_statistics(database: TestDatabase) {
    find_rows(database, false).await;
}

async fn every_statement_finds_its_rows_with_statistics(database: TestDatabase) {
    find_rows(database, true).await;
}

async fn find_rows(database: TestDatabase, analyzed: bool) {
    let store = database.open().await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let columns = columns(&mut tx).await;
    drop(tx);
    fill(&database, &columns).await;
    if analyzed {
        run(&database, "ANALYZE".to_owned()).await;
    }
    store.close().await;
    let store = database.open().await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    if let Inner::Postgres(connection) = &mut tx.inner {
        connection.execute("SET LOCAL plan_cache_mode = force_generic_plan").await.expect("works");
    }
    let tables: Vec<&str> = columns.iter().map(|it| it.0.as_str()).collect();
    let mut faults = Vec::new();
    let every = every_statement(&tx);
    for statement in &every {
        let is_named = WALKS.iter().flat_map(|(_, parts)| *parts).any(|it| statement.contains(it));
        let walks = if is_named { Vec::new() } else { walks(&mut tx, statement, &tables).await };
        if !walks.is_empty() {
            faults.push(format!("{walks:?}: {statement}"));
        }
    }
    assert!(faults.is_empty(), "{} walk:\n{}", faults.len(), faults.join("\n"));
    let is_gone = |part: &&&str| !every.iter().any(|it| it.contains(**part));
    let gone: Vec<_> = WALKS.iter().flat_map(|(_, parts)| *parts).filter(is_gone).collect();
    assert!(gone.is_empty(), "no statement has these parts: {gone:?}");
    // The whole key: a subject, or an object, may have most of the tuples.
    for (look_up, columns) in look_ups(&tx) {
        let plan = plan(&mut tx, &look_up).await.expect("of this database");
        let is_whole = |step: &&String| {
            step.matches("=?").count() == columns + 1
                || step.contains("Index Cond: ") && step.matches(" AND ").count() == columns
        };
        assert!(plan.iter().any(|step| is_whole(&step)), "{plan:?}");
    }
    for control in [
        "SELECT name FROM abac_policies WHERE tenant_id = $1 AND priority = 7",
        "SELECT p.name FROM rbac_rules r JOIN abac_policies p ON p.tenant_id = r.tenant_id \
        AND p.name = r.sub WHERE r.tenant_id = $1 AND r.origin = 'explicit'",
        "SELECT id FROM audit_records WHERE address = $1",
    ] {
        assert!(!walks(&mut tx, control, &tables).await.is_empty(), "the control: {control}");
    }
}

/// Returns the steps in which a statement walks a table or a tenant, beside the small ones.
async fn walks(tx: &mut Tx, statement: &str, tables: &[&str]) -> Vec<String> {
    let Some(plan) = plan(tx, statement).await else { return Vec::new() };
    let mut walks = match &tx.inner {
        Inner::Sqlite(_) => walks_of_sqlite(&plan, statement, tables),
        Inner::Postgres(_) => walks_of_postgres(&plan),
    };
    walks.retain(|step| !SMALL.iter().any(|name| is_named(step, name)));
    walks
}
