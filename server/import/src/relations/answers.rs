//! Compares the answers of the imported types and tuples with those that tests expect.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use portcullis_directory::{Graph, GraphBuffer, SubjectClaims, TupleTable, TuplesFull};

use super::questions::{ImportedTest, Question};
use super::tuples::{ImportedTuple, object};
use super::types::ImportedModel;

/// The memory for closures of subjects, in bytes.
const MAX_CLOSURE_BYTES: usize = 16 << 20;

/// Asks every question; `now` is the instant of those that say none. Returns the number of questions, and those that are
/// answered otherwise.
///
/// # Errors
/// The tuples take too much memory.
pub(crate) fn differences(
    model: &ImportedModel,
    tuples: &[ImportedTuple],
    tests: &[ImportedTest],
    now: DateTime<Utc>,
) -> Result<(usize, Vec<String>), TuplesFull> {
    let (stored, mut buffer) = (graph(model, tuples)?, GraphBuffer::default());
    let (mut asked, mut differences) = (0, Vec::new());
    for test in tests {
        // Tests without tuples share one graph, which takes long to build.
        let own = match test.tuples.is_empty() {
            true => None,
            false => Some(graph(model, &[tuples, &test.tuples].concat())?),
        };
        let graph = own.as_ref().unwrap_or(&stored);
        for question in &test.questions {
            asked += 1;
            let answer = answer(graph, question, question.now.unwrap_or(now), &mut buffer);
            if answer != Some(question.expected) {
                let Question { place, user, relation, object, expected, .. } = question;
                let test = model.model.system.tests.trim_end_matches('s');
                let answer = answer.map_or("undetermined".to_owned(), |answer| answer.to_string());
                differences.push(place.says(format!(
                    "`{user}` `{relation}` `{object}`: the {test} expects {expected}, Portcullis answers {answer}"
                )));
            }
        }
    }
    Ok((asked, differences))
}

fn graph(model: &ImportedModel, tuples: &[ImportedTuple]) -> Result<Graph, TuplesFull> {
    let mut builder = TupleTable::builder();
    for tuple in tuples.iter().filter_map(|one| one.tuple(model)) {
        builder.push(tuple)?;
    }
    Ok(Graph::new(Arc::clone(&model.schema), builder.finish(), MAX_CLOSURE_BYTES))
}

/// Returns the answer; `None` if it is undetermined.
fn answer(
    graph: &Graph,
    question: &Question,
    now: DateTime<Utc>,
    buffer: &mut GraphBuffer,
) -> Option<bool> {
    let (user, object) = (object(&question.user)?, object(&question.object)?);
    let relation = graph.schema().relation(object.object_type, &question.relation)?;
    let subject = graph.subject(user, SubjectClaims::default(), now, buffer);
    subject.has(relation, object.id, &[], buffer).ok()
}
