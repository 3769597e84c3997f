//! Bar R6: a write of 1,000 tuples among 10⁶, and checks before and after it.

use anyhow::{Context, Result};
use portcullis_directory::{Graph, GraphBuffer, Tuple, TupleChange};
use portcullis_workloads::REQUESTS;
use portcullis_workloads::measure::{Variant, compare, load_time};
use portcullis_workloads::report::{Bar, Group};

use crate::checks::{CLOSURES, has, questions};
use crate::drive::{DOCUMENT, Tuples, USER};

/// The tuples of a write.
const WRITTEN: usize = 1_000;
/// The tuples that a check assumes.
const ASSUMED: usize = 10;

pub(crate) fn writes(tuples: &Tuples, group: &mut Group<'_>) -> Result<()> {
    let before = tuples.graph(CLOSURES)?;
    let viewer = tuples.number(DOCUMENT, "viewer")?;
    let written = |n: usize| {
        TupleChange::Put(Tuple {
            object: tuples.object((DOCUMENT, n)),
            relation: viewer,
            subject: tuples.object((USER, n % 100)),
            subject_relation: None,
            expires_at: None,
        })
    };
    let changed = || before.table().changed((0..WRITTEN).map(written));
    let took = load_time(changed).as_secs_f64() * 1e3;
    group.measurement("1,000 tuples are visible", took, " ms", Bar::AtMost(5.0));
    let table = changed()?;
    let folded = load_time(|| table.folded()).as_secs_f64();
    group.measurement("fold, beside the checks", folded, " s", Bar::Shown);
    let after = Graph::new(tuples.schema.clone(), table, CLOSURES);
    let relation = before.schema().relation("document", "viewer").context("viewer")?;
    let questions = questions(tuples, REQUESTS);
    let [mut a, mut b] = [(); 2].map(|()| GraphBuffer::default());
    let samples = compare(vec![
        Variant::new("before", REQUESTS, |n| has(&before, relation, &questions[n], &mut a)),
        Variant::new("after", REQUESTS, |n| has(&after, relation, &questions[n], &mut b)),
    ]);
    let ratio = samples[1].ratio(&samples[0]);
    group.measurement("checks after it, of those before", ratio, " ×", Bar::AtMost(1.2));
    // What a check that assumes tuples does, beside what the same check of stored ones does.
    let assuming = |n: usize, buffer: &mut GraphBuffer| {
        let table = before.table().changed((0..ASSUMED).map(written)).ok()?;
        let graph = Graph::new(tuples.schema.clone(), table, CLOSURES);
        has(&graph, relation, &questions[n], buffer)
    };
    let [mut a, mut b] = [(); 2].map(|()| GraphBuffer::default());
    let samples = compare(vec![
        Variant::new("stored", REQUESTS, |n| has(&before, relation, &questions[n], &mut a)),
        Variant::new("assumed", REQUESTS, |n| assuming(n, &mut b)),
    ]);
    let more = (samples[1].ns() - samples[0].ns()) / 1e3;
    group.measurement("ten assumed tuples, above the same stored", more, " µs", Bar::AtMost(30.0));
    Ok(())
}
