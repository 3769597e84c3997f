//! Bar 5: from JSON text to the decision.

use std::hint::black_box;

use anyhow::Result;
use portcullis_workloads::limit::Limit;
use portcullis_workloads::measure::{Variant, allocations, compare};
use portcullis_workloads::plain_request::PlainRequest;
use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::{w2, w4};

use crate::ours::Plans;

pub(crate) fn w5(group: &mut Group<'_>) -> Result<()> {
    for workload in [w4(), w2(10_000)] {
        let name = format!("texts of {}", workload.name);
        let (plans, limit) = (Plans::compile(&workload)?, Limit::new(&workload));
        let texts = workload.texts();
        let allocated = allocations(|| {
            for text in &texts {
                let _ = black_box(plans.allows_text(text));
            }
        });
        let samples = compare(vec![
            Variant::new("bare parse", texts.len(), |index| PlainRequest::parse(&texts[index])),
            Variant::checked("ours", workload.right(), |index| plans.allows_text(&texts[index]))?,
            Variant::checked("limit", workload.right(), |index| {
                Ok(limit.allows(&PlainRequest::parse(&texts[index])?))
            })?,
        ]);
        group.times(&name, &samples);
        let ratio = samples[1].ratio(&samples[0]);
        group.measurement(format!("{name}: ours / bare parse"), ratio, "", Bar::AtMost(2.0));
        let each = allocated as f64 / texts.len() as f64;
        group.measurement(format!("{name}: allocations per decision"), each, "", Bar::AtMost(0.0));
    }
    Ok(())
}
