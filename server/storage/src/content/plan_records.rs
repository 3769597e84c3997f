//! The records of a tenant as plans need them: the columns that no plan reads take time to read, too.

use std::collections::{BTreeSet, HashMap};
use std::str::FromStr;
use std::sync::Arc;

use portcullis_engine::condition::NamedConditions;
use portcullis_engine::{
    CheckTerms, Datetimes, Effect, Format, Json, Policy, Precedence, PropertySources, ResolverRef,
    ResourcePattern, Rule, RuleTuple,
};
use uuid::Uuid;

use crate::content::conditions;
use crate::content::resolvers;
use crate::content::types::{read_datetimes, read_sources};
use crate::transactions::error::StoreError;
use crate::transactions::json_list::from_json_list;
use crate::transactions::macros::{fetch_all, fetch_optional, indexed};
use crate::transactions::row_lists::{LookUp, among};
use crate::transactions::stored_records::{Columns, Records, read, read_between, statements};
use crate::transactions::tx::{Statements, Tx};

/// Reads the rules of three patterns.
pub(crate) const RULES: Statements = statements!(
    rbac_rules by rbac_rules_of_plans,
    "WHERE tenant_id = $1 AND obj IN ($2, $3, $4)",
    [sub, dom, obj, act, effect]
);

/// Reads the enabled policies of three patterns.
pub(crate) const POLICIES: Statements = statements!(
    abac_policies by abac_policies_of_plans,
    // In these words, because PostgreSQL without statistics prefers any index of the policies that are not deleted.
    "WHERE tenant_id = $1 AND resource IN ($2, $3, $4) AND COALESCE(deleted_at, -1) = -1 AND enabled",
    [name, resource, effect, format, priority, rule_data]
);

/// Reads the rules of the patterns after one through another.
pub(crate) const RULES_BETWEEN: Statements = statements!(
    rbac_rules by rbac_rules_of_plans,
    "WHERE tenant_id = $1 AND obj > $2 AND obj <= $3",
    [sub, dom, obj, act, effect]
);

/// Reads the enabled policies of the patterns after one through another.
pub(crate) const POLICIES_BETWEEN: Statements = statements!(
    abac_policies by abac_policies_of_plans,
    "WHERE tenant_id = $1 AND resource > $2 AND resource <= $3 AND COALESCE(deleted_at, -1) = -1 AND enabled",
    [name, resource, effect, format, priority, rule_data]
);

/// The patterns that rules and policies have.
pub(crate) const USED: LookUp = LookUp {
    table: "plan_sizes",
    key: &[("pattern", "TEXT")],
    columns: "r.pattern",
    names: "pattern",
};

/// The rules that can match a resource, as they are stored.
#[derive(Debug)]
pub struct StoredRules(Records);

impl StoredRules {
    /// Returns each rule.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]
    pub fn list(&self) -> Result<Vec<Rule>, StoreError> {
        self.0.read(rule, "rbac_rules")
    }

    /// Returns the bytes of all rules.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

/// Reads all rules that can match `resource`, in no order. Leaves out those that can match `broader`, a pattern.
pub async fn rules(
    tx: &mut Tx,
    resource: &str,
    broader: Option<&str>,
) -> Result<StoredRules, StoreError> {
    Ok(StoredRules(read(tx, patterns_of(resource, broader), &RULES).await?))
}

/// Reads all rules whose pattern is after `after` and not after `last`, in no order.
pub async fn rules_between(
    tx: &mut Tx,
    after: &str,
    last: &str,
) -> Result<StoredRules, StoreError> {
    Ok(StoredRules(read_between(tx, [after, last], &RULES_BETWEEN).await?))
}

fn rule(columns: &mut Columns<'_>) -> Option<Rule> {
    let id = Uuid::try_parse(columns.next()?).ok()?;
    let [sub, dom] = [columns.next()?.to_owned(), columns.next()?.to_owned()];
    let obj = ResourcePattern::parse(columns.next()?)?;
    let act = columns.next()?.to_owned();
    let effect = columns.next()?.parse().ok()?;
    Some(Rule { id, tuple: RuleTuple { sub, dom, obj, act }, effect })
}

/// The enabled policies that can match a resource, as they are stored.
#[derive(Debug)]
pub struct StoredPolicies(Records);

/// An enabled policy as it is stored.
#[derive(Debug)]
pub struct StoredPolicy<'t> {
    id: Uuid,
    name: &'t str,
    resource: ResourcePattern,
    effect: Effect,
    format: Format,
    priority: i32,
    rule_data: &'t str,
}

impl StoredPolicies {
    /// Returns whether there are none.
    pub fn are_none(&self) -> bool {
        self.0.bytes() == 0
    }

    /// Returns whether the condition of a policy may use a name.
    pub fn may_name_conditions(&self) -> bool {
        self.0.texts().any(conditions::may_name)
    }

    /// Returns each policy.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]
    pub fn list(&self) -> Result<Vec<StoredPolicy<'_>>, StoreError> {
        self.0.read(StoredPolicy::read, "abac_policies")
    }
}

impl<'t> StoredPolicy<'t> {
    fn read(columns: &mut Columns<'t>) -> Option<Self> {
        Some(Self {
            id: Uuid::try_parse(columns.next()?).ok()?,
            name: columns.next()?,
            resource: ResourcePattern::parse(columns.next()?)?,
            effect: columns.next()?.parse().ok()?,
            format: columns.next()?.parse().ok()?,
            priority: columns.next()?.parse().ok()?,
            rule_data: columns.next()?,
        })
    }

    /// Returns the policy as plans need it. Reads its condition, which takes time in proportion to its size.
    pub fn policy(&self, names: &NamedConditions) -> Policy {
        let policy = Policy {
            id: self.id,
            name: self.name.to_owned(),
            resource: self.resource.clone(),
            effect: self.effect,
            priority: self.priority,
            condition: Policy::stored_condition(self.format, self.rule_data),
        };
        policy.resolved(names)
    }
}

/// Reads the enabled policies that can match `resource`, in no order. Leaves out those that can match `broader`, a pattern.
pub async fn policies(
    tx: &mut Tx,
    resource: &str,
    broader: Option<&str>,
) -> Result<StoredPolicies, StoreError> {
    Ok(StoredPolicies(read(tx, patterns_of(resource, broader), &POLICIES).await?))
}

/// Reads the enabled policies whose pattern is after `after` and not after `last`, in no order.
pub async fn policies_between(
    tx: &mut Tx,
    after: &str,
    last: &str,
) -> Result<StoredPolicies, StoreError> {
    Ok(StoredPolicies(read_between(tx, [after, last], &POLICIES_BETWEEN).await?))
}

/// Lists the next patterns after `after` that rules and policies have, at most `limit`, in order. Each comes with the bytes of
/// its rules and policies, as the quota `plan_bytes` counts them.
pub async fn patterns_after(
    tx: &mut Tx,
    after: &str,
    limit: u16,
) -> Result<Vec<(String, i64)>, StoreError> {
    const SQL: &str = "SELECT pattern, bytes FROM plan_sizes WHERE tenant_id = $1 AND pattern > $2 \
        ORDER BY pattern LIMIT $3";
    Ok(fetch_all!(tx, (String, i64), SQL, &tx.tenant, after, i64::from(limit))?)
}

/// Returns those of `patterns` that rules and policies have.
pub async fn used_patterns(
    tx: &mut Tx,
    patterns: &BTreeSet<String>,
) -> Result<BTreeSet<String>, StoreError> {
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    among(tx, USED, &patterns).await
}

/// The facts about a tenant that its plans need, as they are stored.
#[derive(Debug, Default)]
pub struct StoredFacts {
    /// The resolvers by namespace.
    pub resolvers: HashMap<String, ResolverRef>,
    /// The source that goes first where a request and the directory differ; `None` for a tenant that never had an entity.
    pub directory: Option<Precedence>,
    /// Every role that includes others, with the roles that it names, in the order of names.
    pub roles: Vec<(String, Vec<String>)>,
    /// The properties that are taken from one place alone, or refer to a type.
    pub sources: PropertySources,
    /// The properties that types declare as date-times.
    pub datetimes: Arc<Datetimes>,
    /// The relations of all declared types with their numbers, as JSON; `None` if no type has any.
    pub relations: Option<Arc<str>>,
    /// The tenant's own settings for the records of its decisions, as JSON; `None` if it has none.
    pub recording: Option<Arc<str>>,
    /// The tenant's settings about checks.
    pub terms: CheckTerms,
}

/// The statement that reads the facts about a tenant. `$resolver` writes the id and version of a resolver, `$recording` the
/// settings for the records of decisions, `$actions` and `$unknown` the settings about checks.
macro_rules! facts {
    ($resolver:literal, $recording:literal, $actions:literal, $unknown:literal) => {
        concat!(
            "SELECT entities_revision, directory_wins, \
            (SELECT string_agg(octet_length(name) || ':' || name \
            || octet_length(includes) || ':' || includes, '') FROM roles WHERE tenant_id = $1), \
            (SELECT string_agg(octet_length(name) || ':' || name \
            || octet_length(sources) || ':' || sources, '') FROM types \
            WHERE tenant_id = $1 AND sources <> '{}'), \
            (SELECT string_agg(octet_length(name) || ':' || name \
            || octet_length(definition) || ':' || definition, '') FROM types \
            WHERE tenant_id = $1 AND (definition LIKE '%\"datetime\"%' \
            OR definition LIKE '%\"ref<%')), \
            (SELECT string_agg(octet_length(name) || ':' || name \
            || octet_length(relations) || ':' || relations, '') FROM types WHERE tenant_id = $1), \
            (SELECT string_agg(octet_length(namespace) || ':' || namespace || ",
            $resolver,
            ", '') FROM resolvers WHERE tenant_id = $1), (SELECT ",
            $recording,
            " FROM tenant_settings WHERE tenant_id = $1), (SELECT ",
            $actions,
            " FROM tenant_settings WHERE tenant_id = $1), (SELECT ",
            $unknown,
            " FROM tenant_settings WHERE tenant_id = $1) FROM tenants WHERE id = $1"
        )
    };
}

/// Reads the facts about a tenant.
pub(crate) const FACTS: Statements = Statements {
    // The number before an id is the length of its text: SQLite has 16 bytes as hexadecimal digits, PostgreSQL adds hyphens.
    sqlite: facts!(
        "'32:' || hex(id) || length(version) || ':' || version",
        "json_extract(settings, '$.decision_log')",
        "json_extract(settings, '$.actions')",
        "json_extract(settings, '$.unknown_subjects')"
    ),
    postgres: facts!(
        "'36:' || id || length(CAST(version AS TEXT)) || ':' || version",
        "CAST(CAST(settings AS JSON) -> 'decision_log' AS TEXT)",
        "CAST(settings AS JSON) ->> 'actions'",
        "CAST(settings AS JSON) ->> 'unknown_subjects'"
    ),
};

/// Reads the facts about the tenant by one statement: most loads are small, and each statement is a round trip.
pub async fn facts(tx: &mut Tx) -> Result<StoredFacts, StoreError> {
    type Text = Option<String>;
    type Row = (i64, bool, Text, Text, Text, Text, Text, Text, Text, Text);
    let sql = tx.statement(&FACTS);
    let row = fetch_optional!(tx, Row, sql, &tx.tenant)?;
    let Some((
        entities,
        wins,
        roles,
        types,
        datetimes,
        relations,
        resolvers,
        recording,
        actions,
        unknown,
    )) = row
    else {
        // A tenant without a write has no row.
        return Ok(StoredFacts::default());
    };
    let roles = Records::from(roles);
    let roles = roles.read(|columns| Some((columns.next()?, columns.next()?)), "roles")?;
    let mut roles = roles.into_iter().map(role).collect::<Result<Vec<_>, _>>()?;
    // `string_agg` gives them in no order.
    roles.sort_unstable();
    let types = Records::from(types);
    let types = types.read(|columns| Some((columns.next()?, columns.next()?)), "types")?;
    let sources = types.into_iter().map(|(name, sources)| read_sources(name, sources));
    let sources = sources.collect::<Result<PropertySources, _>>()?;
    let datetimes = Records::from(datetimes);
    let datetimes = datetimes.read(|columns| Some((columns.next()?, columns.next()?)), "types")?;
    let datetimes = Arc::new(read_datetimes(&datetimes)?);
    let resolvers = Records::from(resolvers);
    let resolvers = resolvers.read(resolver, "resolvers")?;
    let precedence = if wins { Precedence::Directory } else { Precedence::Request };
    let directory = (entities > 0).then_some(precedence);
    let resolvers = resolvers.into_iter().collect();
    let relations = relations_of(relations)?;
    let recording = recording.map(Arc::from);
    let terms = CheckTerms { actions: term(actions), unknown_subjects: term(unknown) };
    Ok(StoredFacts { resolvers, directory, roles, sources, datetimes, relations, recording, terms })
}

/// Returns a setting about checks; the default if the tenant has none, or one that only a later version knows.
fn term<T: FromStr + Default>(stored: Option<String>) -> T {
    stored.and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Returns the relations of all types as one text, in the order of the names of types; `None` if no type has any.
fn relations_of(types: Option<String>) -> Result<Option<Arc<str>>, StoreError> {
    const NONE: &str = "{}";
    let types = Records::from(types);
    let mut types = types.read(|columns| Some((columns.next()?, columns.next()?)), "types")?;
    if types.iter().all(|(_, relations)| *relations == NONE) {
        return Ok(None);
    }
    // In one order, so that the same relations always give the same text.
    types.sort_unstable();
    let members: Vec<String> = types.into_iter().map(member).collect();
    Ok(Some(format!("{{{}}}", members.join(",")).into()))
}

/// Returns the relations of a type as a member of a JSON object.
fn member((name, relations): (&str, &str)) -> String {
    format!("{}:{relations}", Json::String(name.into()))
}

fn role((name, includes): (&str, &str)) -> Result<(String, Vec<String>), StoreError> {
    Ok((name.to_owned(), from_json_list(includes, "roles.includes")?))
}

fn resolver(columns: &mut Columns<'_>) -> Option<(String, ResolverRef)> {
    let namespace = columns.next()?.to_owned();
    let id = Uuid::try_parse(columns.next()?).ok()?;
    Some((namespace, resolvers::reference(id, columns.next()?.parse().ok()?).ok()?))
}

/// Returns the patterns that match `resource` and not `broader`. Statements have three places: a pattern that comes twice
/// changes nothing.
fn patterns_of(resource: &str, broader: Option<&str>) -> [String; 3] {
    let broader = broader.map(ResourcePattern::matching);
    ResourcePattern::matching(resource).map(|pattern| match &broader {
        Some(all) if all.contains(&pattern) => resource.to_owned(),
        _ => pattern,
    })
}

/// Returns whether a rule or policy has exactly this resource.
pub async fn name_resource(tx: &mut Tx, resource: &str) -> Result<bool, StoreError> {
    const SQL: Statements = indexed!(
        "SELECT obj FROM rbac_rules WHERE tenant_id = $1 AND obj = $2 UNION ALL \
        SELECT resource FROM abac_policies",
        abac_policies_of_plans,
        "WHERE tenant_id = $1 AND resource = $2 AND COALESCE(deleted_at, -1) = -1 LIMIT 1"
    );
    let sql = tx.statement(&SQL);
    Ok(fetch_optional!(tx, (String,), sql, &tx.tenant, resource)?.is_some())
}

/// Lists the resource patterns that rules and policies have, at most `limit`, each once.
pub async fn patterns(tx: &mut Tx, limit: u16) -> Result<Vec<String>, StoreError> {
    // Each step looks the next pattern up in the index. `DISTINCT` would read every rule.
    const OF_RULES: &str = "WITH RECURSIVE used (pattern) AS ( \
        SELECT MIN(obj) FROM rbac_rules WHERE tenant_id = $1 UNION ALL \
        SELECT (SELECT MIN(obj) FROM rbac_rules WHERE tenant_id = $1 AND obj > used.pattern) \
        FROM used WHERE used.pattern IS NOT NULL) \
        SELECT pattern FROM used WHERE pattern IS NOT NULL LIMIT $2";
    const OF_POLICIES: &str = "WITH RECURSIVE used (pattern) AS ( \
        SELECT MIN(resource) FROM abac_policies WHERE tenant_id = $1 AND deleted_at IS NULL \
        UNION ALL SELECT (SELECT MIN(resource) FROM abac_policies WHERE tenant_id = $1 \
        AND deleted_at IS NULL AND resource > used.pattern) \
        FROM used WHERE used.pattern IS NOT NULL) \
        SELECT pattern FROM used WHERE pattern IS NOT NULL LIMIT $2";
    let mut patterns = BTreeSet::new();
    for sql in [OF_RULES, OF_POLICIES] {
        let rows = fetch_all!(tx, (String,), sql, &tx.tenant, i64::from(limit))?;
        patterns.extend(rows.into_iter().map(|(pattern,)| pattern));
    }
    Ok(patterns.into_iter().take(usize::from(limit)).collect())
}
