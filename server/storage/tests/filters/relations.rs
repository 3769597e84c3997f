//! Plans whose policies and rules read relations, over random types, tuples and rows: the condition holds for exactly the rows
//! that a check of each row allows.

use std::sync::Arc;

use fastrand::Rng;
use portcullis_directory::{
    FirstHop, Graph, GraphBuffer, GraphSubject, HopObjects, Object, RelationId, RowBudget, RowHop,
    SubjectClaims,
};
use portcullis_engine::condition::AttributePath;
use portcullis_engine::relation::{RELATION, RelationTarget};
use portcullis_engine::sql::{RelatedRows, RowReference, RowRelation, RowRelations, Sql};
use portcullis_engine::{
    AttributeAnswer, AttributeAnswers, Effect, Json, Plan, Policy, Precedence, Rule, TenantFacts,
    expression,
};
use serde_json::{Value, json};

use super::databases::Database;
use super::graphs::{self, RELATIONS};
use super::papers::{self, Declared};
use super::{allows_with, columns, filter_with, now, policy, rule_of, write_with};

const ROWS: usize = 200;
const PLANS: usize = 100;
const MANY_PLANS: usize = 2_750;

const FIXED: [&str; 2] = ["group:eng#member", "folder:a#viewer"];

#[tokio::test]
async fn sqlite_selects_the_rows_that_checks_with_relations_allow() {
    compare(&Database::sqlite().await, PLANS).await;
}

#[tokio::test]
async fn postgres_selects_the_rows_that_checks_with_relations_allow() {
    let Some((_own, database)) = Database::postgres().await else { return };
    compare(&database, PLANS).await;
}

#[tokio::test]
#[ignore = "a soak: `.ci/long` runs it"]
async fn sqlite_selects_the_rows_that_many_checks_with_relations_allow() {
    compare(&Database::sqlite().await, MANY_PLANS).await;
}

#[tokio::test]
#[ignore = "a soak: `.ci/long` runs it"]
async fn postgres_selects_the_rows_that_many_checks_with_relations_allow() {
    let Some((_own, database)) = Database::postgres().await else { return };
    compare(&database, MANY_PLANS).await;
}

async fn compare(database: &Database, plans: usize) {
    let mut rng = Rng::with_seed(26);
    let rows = papers::fill(database, &mut rng, ROWS).await;
    let (mut compared, mut exact, mut divided) = (0, 0, 0);
    for _ in 0..plans {
        let case = Case::random(&mut rng);
        let (selected, sql) = case.selected(database).await;
        let mut allowed = 0;
        for (row, selected) in rows.iter().zip(selected) {
            let expected = case.allows(row);
            let selected = selected.expect("never NULL");
            allowed += usize::from(selected);
            let is_right = selected == expected || selected && !sql.inexact.is_empty();
            assert!(is_right, "{selected}: {}", case.show(&sql, row));
        }
        compared += rows.len();
        exact += usize::from(sql.inexact.is_empty());
        divided += usize::from(0 < allowed && allowed < rows.len());
    }
    println!("{compared} rows, {exact} of {plans} plans are exact, {divided} divide the rows");
    assert!(exact == plans && divided * 3 > plans);
}

/// A plan with everything that it depends on.
struct Case {
    plan: Plan,
    /// The policies and rules.
    texts: Vec<String>,
    graph: Graph,
    declared: Declared,
    precedence: Precedence,
    request: Value,
}

impl Case {
    fn random(rng: &mut Rng) -> Self {
        let precedence = if rng.bool() { Precedence::Request } else { Precedence::Directory };
        let mut texts = Vec::new();
        let policies = (0..rng.u128(1..4)).map(|id| {
            let effect = if rng.u8(..3) > 0 { Effect::Allow } else { Effect::Deny };
            let (text, priority) = (condition(rng, 0), rng.i32(0..2));
            texts.push(format!("{effect:?} {priority}: {text}"));
            policy(id, effect, priority, expression::parse(&text).expect("an expression"))
        });
        let policies: Vec<Policy> = policies.collect();
        let rules: Vec<Rule> = (0..rng.u128(..3)).map(|id| random_rule(rng, id)).collect();
        texts.extend(rules.iter().map(|rule| format!("{:?}: {}", rule.effect, rule.tuple.sub)));
        let facts = TenantFacts {
            directory: Some(precedence),
            relations: Some("relations".into()),
            ..TenantFacts::default()
        };
        let resource = "document:read";
        let plan = Plan::compile_with(resource, 1, &rules, policies, Arc::new(facts), |_| None);
        let mut request = json!({
            "subject": (graphs::object(rng, "user").id), "resource": resource, "action": "read",
            "attributes": {"resource": {}},
        });
        let declared = Declared::random(rng);
        // The owner is known, and the same for each row.
        if !declared.owner && rng.u8(..3) == 0 {
            request["attributes"]["resource"]["owner"] =
                json!(format!("user:{}", graphs::object(rng, "user").id));
        }
        Self { plan, texts, graph: graphs::random(rng), declared, precedence, request }
    }

    fn show(&self, sql: &Sql, row: &Value) -> String {
        let Self { texts, declared, precedence, request, .. } = self;
        let tuples: Vec<_> = self.graph.table().iter().collect();
        let (text, params) = (&sql.text, &sql.params);
        format!(
            "{row}\n{declared:?} {precedence:?} {request}\n{texts:#?}\n{text}\n{params:?}\n{tuples:?}\n{:#?}",
            self.graph.schema()
        )
    }

    fn with_subject<T>(&self, answer: impl FnOnce(&GraphSubject<'_>, &mut GraphBuffer) -> T) -> T {
        let buffer = &mut GraphBuffer::default();
        let id = self.request["subject"].as_str().expect("a text");
        let user = Object { object_type: "user", id };
        let subject = self.graph.subject(user, SubjectClaims::default(), now(), buffer);
        answer(&subject, buffer)
    }

    fn relation(&self, name: &str) -> Option<RelationId> {
        self.graph.schema().relation("document", name)
    }

    /// Returns the value of the condition for each row, and the condition.
    async fn selected(&self, database: &Database) -> (Vec<Option<bool>>, Sql) {
        let columns = columns(&self.declared.columns(), database.dialect());
        let (fixed, relations) = self.with_subject(|subject, buffer| {
            (self.answers(None, subject, buffer), self.of_rows(subject))
        });
        let filter = filter_with(&self.plan, &self.request, &fixed);
        let sql = write_with(&filter, database.dialect(), &columns, &relations);
        let query = format!("SELECT {} FROM papers AS p ORDER BY p.number", sql.text);
        (database.column(query, &sql.params, 0).await, sql)
    }

    fn of_rows(&self, subject: &GraphSubject<'_>) -> RowRelations {
        let mut budget = RowBudget::default();
        let known = self.request["attributes"]["resource"]["owner"].as_str();
        let known = known.map(|owner| vec![object(owner).expect("a reference")]);
        let (mut hops, mut references) = (Vec::new(), Vec::new());
        for (name, has_column, known) in [
            ("parent", self.declared.folder.is_some(), None),
            ("owner", self.declared.owner, known),
        ] {
            let relation = self.relation(name).expect("declared");
            let attribute = AttributePath::Resource(name.into());
            let objects = match (has_column, known) {
                (true, _) => HopObjects::Attribute(attribute.clone()),
                (false, Some(known)) => HopObjects::Known(known),
                (false, None) => continue,
            };
            let stored = match self.precedence {
                Precedence::Request => Vec::new(),
                Precedence::Directory => {
                    self.graph.having_stored(relation, now(), &mut budget).expect("few")
                }
            };
            if has_column {
                let types = self.graph.schema().leads_to(relation).expect("objects");
                let types = types.map(Into::into).collect();
                let stored = stored.iter().map(|id| (*id).into()).collect();
                references.push(RowReference { attribute, types, stored });
            }
            hops.push(RowHop { relation, objects, stored });
        }
        let mut relations = RowRelations::default();
        for name in RELATIONS {
            let relation = match self.relation(name) {
                Some(relation) => RowRelation {
                    rows: subject.rows(relation, &hops, &mut budget).expect("few"),
                    references: references.clone(),
                    doubt: None,
                },
                None => {
                    RowRelation { rows: RelatedRows::none(), references: Vec::new(), doubt: None }
                }
            };
            relations.insert(name, Ok(relation));
        }
        relations
    }

    fn allows(&self, row: &Value) -> bool {
        let mut request = self.request.clone();
        let attributes = self.declared.attributes(row);
        for (name, value) in attributes.as_object().expect("an object") {
            request["attributes"]["resource"][name] = value.clone();
        }
        let row = &request["attributes"]["resource"];
        let answers = self.with_subject(|subject, buffer| self.answers(Some(row), subject, buffer));
        allows_with(&self.plan, &request, &answers)
    }

    /// Returns the relations of a check with these attributes of the resource; without a row, those to fixed objects.
    fn answers(
        &self,
        row: Option<&Value>,
        subject: &GraphSubject<'_>,
        buffer: &mut GraphBuffer,
    ) -> AttributeAnswers {
        let mut answers = AttributeAnswers::default();
        for name in FIXED {
            let RelationTarget::OfObject { object_type, id, relation } =
                RelationTarget::parse(name)
            else {
                panic!("`{name}` is not fixed")
            };
            let relation = self.graph.schema().relation(object_type, relation).expect("declared");
            let has = subject.has(relation, id, &[], buffer).expect("few edges");
            answers.insert(RELATION, name, AttributeAnswer::Value(Json::Bool(has)));
        }
        for (row, name) in row.into_iter().flat_map(|row| RELATIONS.map(|name| (row, name))) {
            answers.insert(RELATION, name, self.answer(name, row, subject, buffer));
        }
        answers
    }

    /// Answers one relation as a check does.
    fn answer(
        &self,
        name: &str,
        row: &Value,
        subject: &GraphSubject<'_>,
        buffer: &mut GraphBuffer,
    ) -> AttributeAnswer {
        let Some(id) = row["id"].as_str() else { return AttributeAnswer::Absent };
        let Some(relation) = self.relation(name) else {
            return AttributeAnswer::Value(Json::Bool(false));
        };
        let mut hops = Vec::new();
        for (name, types) in [("parent", self.parent_types()), ("owner", vec!["user".to_owned()])] {
            let own = self.relation(name).expect("declared");
            let is_stored = || self.graph.has_stored(own, id, now());
            if row[name].is_null() || self.precedence == Precedence::Directory && is_stored() {
                continue;
            }
            let values = row[name].as_array().cloned().unwrap_or_else(|| vec![row[name].clone()]);
            let allowed = |value: &Value| {
                let (of_type, id) = value.as_str()?.split_once(':')?;
                (types.iter().any(|one| one == of_type) && !id.is_empty()).then_some(())
            };
            if values.iter().any(|value| allowed(value).is_none()) {
                return AttributeAnswer::Failed("no reference".into());
            }
            hops.push((own, values));
        }
        let objects: Vec<(RelationId, Vec<Object<'_>>)> = hops
            .iter()
            .map(|(own, values)| {
                (*own, values.iter().filter_map(|one| object(one.as_str()?)).collect())
            })
            .collect();
        let hops: Vec<FirstHop<'_>> = objects
            .iter()
            .map(|(relation, objects)| FirstHop { relation: *relation, objects })
            .collect();
        let has = subject.has(relation, id, &hops, buffer).expect("few edges");
        AttributeAnswer::Value(Json::Bool(has))
    }

    fn parent_types(&self) -> Vec<String> {
        let types = self.graph.schema().leads_to(self.relation("parent").expect("declared"));
        types.into_iter().flatten().map(ToOwned::to_owned).collect()
    }
}

fn object(reference: &str) -> Option<Object<'_>> {
    let (object_type, id) = reference.split_once(':')?;
    Some(Object { object_type, id })
}

/// Draws a condition over relations and a column.
fn condition(rng: &mut Rng, depth: u8) -> String {
    let name = RELATIONS[rng.usize(..RELATIONS.len())];
    let fixed = FIXED[rng.usize(..FIXED.len())];
    match rng.u8(..if depth > 2 { 8 } else { 14 }) {
        0..3 => format!("relation.{name} == true"),
        3 => format!("(relation.{name} != false) ?? {}", rng.bool()),
        4 => format!("exists(relation.{name})"),
        5 => format!("relation.{name} == resource.open"),
        6 => format!("resource.open != relation.{name}"),
        7 => format!(r#"relation["{fixed}"] == true && resource.open == {}"#, rng.bool()),
        8 => format!("!({})", condition(rng, depth + 1)),
        9..12 => format!("({}) && ({})", condition(rng, depth + 1), condition(rng, depth + 1)),
        _ => format!("({}) || ({})", condition(rng, depth + 1), condition(rng, depth + 1)),
    }
}

fn random_rule(rng: &mut Rng, id: u128) -> Rule {
    let name = RELATIONS[rng.usize(..RELATIONS.len())];
    let subject = match rng.u8(..4) {
        0 => FIXED[rng.usize(..FIXED.len())].to_owned(),
        _ => format!("{name}@resource"),
    };
    rule_of(id, &subject, if rng.bool() { Effect::Allow } else { Effect::Deny })
}
