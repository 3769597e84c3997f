//! The gates that a draft passes when it is published (`docs/semantics.md`, section 18.3).

use portcullis_auth::Manager;
use portcullis_model::Timestamp;
use portcullis_model::draft::DraftRecord;
use portcullis_model::service_key::Permission;
use portcullis_model::settings::ShadowGates;
use portcullis_model::shadow::ShadowReport;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::{SeenInShadow, ShadowShortfall, WriteRefusal};
use portcullis_storage::shadows;

/// Refuses to publish a draft that does not meet these gates, unless a caller who may do that forces it.
///
/// # Errors
/// A gate refuses it, the caller may not force it, or the store failed.
pub(crate) async fn must_pass(
    app: &App,
    caller: &Manager,
    draft: &DraftRecord,
    gates: ShadowGates,
    force: bool,
) -> Result<(), OperationError> {
    if gates == ShadowGates::default() {
        return Ok(());
    }
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    let row = shadows::find(&mut tx).await?;
    tx.end().await?;
    let seen = match row.filter(|row| row.name == draft.name) {
        None => None,
        Some(row) => Some(seen(draft, &app.shadow_report(&row).await?, app.clock.now().into())),
    };
    if passes(gates, seen) {
        return Ok(());
    }
    if force {
        return Ok(caller.must_have(Permission::PoliciesForce)?);
    }
    let shortfall = ShadowShortfall { draft: draft.name.clone(), required: gates, seen };
    Err(WriteRefusal::ShadowRequired(shortfall).into())
}

fn seen(draft: &DraftRecord, report: &ShadowReport, now: Timestamp) -> SeenInShadow {
    let since = draft.in_force_since();
    let millis = now.millis().saturating_sub(since.millis());
    let seconds = u64::try_from(millis / 1_000).unwrap_or_default();
    let flips = report.allow_to_deny + report.deny_to_allow;
    let not_compared = report.not_ready + report.not_comparable;
    SeenInShadow { since, seconds, flips, not_compared }
}

/// Returns whether a draft passes that was seen so in shadow; `None` is one that is not there.
fn passes(gates: ShadowGates, seen: Option<SeenInShadow>) -> bool {
    let Some(seen) = seen else { return false };
    let is_long = gates.time.is_none_or(|time| seen.seconds >= time.duration().as_secs());
    // A check that was not compared may have been a flip.
    let flips = seen.flips.saturating_add(seen.not_compared);
    is_long && gates.flips.is_none_or(|most| flips <= most.into())
}

#[cfg(test)]
mod tests {
    use portcullis_model::hours::Hours;

    use super::*;

    #[test]
    fn a_draft_passes_with_enough_time_and_few_enough_flips() {
        let since = Timestamp::from_millis(0);
        let counted = |seconds, flips, not_compared| {
            Some(SeenInShadow { since, seconds, flips, not_compared })
        };
        let seen = |seconds, flips| counted(seconds, flips, 0);
        let (day, most) = (Hours::parse("1d"), Some(3));
        for (time, flips, seen, expected) in [
            (day, most, None, false),
            (None, most, None, false),
            (day, most, seen(86_399, 3), false),
            (day, most, seen(86_400, 3), true),
            (day, most, seen(86_400, 4), false),
            (day, None, seen(86_400, 4), true),
            (None, most, seen(0, 3), true),
            (None, Some(0), seen(0, 1), false),
            (None, Some(0), counted(0, 0, 1), false),
            (None, most, counted(0, 2, 1), true),
            (None, most, counted(0, 2, 2), false),
            (day, None, counted(86_400, 0, 9), true),
        ] {
            let gates = ShadowGates { time, flips };
            assert_eq!(passes(gates, seen), expected, "{gates:?} {seen:?}");
        }
    }
}
