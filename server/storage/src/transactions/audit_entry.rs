//! A change as its audit record has it.

use portcullis_model::audit::AuditAction;

/// Longest record before or after a change that is kept, in bytes of JSON. A condition may have many times as much.
const MAX_VALUE: usize = 8 * 1024;
/// Most bytes of an audit record that are records before and after its changes, without what stands for those that are left
/// out: with the most records that a tenant keeps, they take at most 1.6 GB.
const MAX_VALUES: usize = 2 * MAX_VALUE;
/// Longest text that is never left out, in bytes: hardly longer than what would stand for it, or just that.
const MAX_OMITTED: usize = 40;
/// The most ids of one audit record. A bulk registration changes thousands of records, and must not write as many rows.
const MAX_IDS: usize = 100;

/// A change that a transaction made.
#[derive(Debug)]
pub(crate) struct AuditEntry {
    pub(crate) action: AuditAction,
    /// The id or the name of the record that changed, if it was one.
    pub(crate) record: Option<String>,
    /// The record before the change, as JSON.
    before: Option<String>,
    after: Option<String>,
}

impl AuditEntry {
    pub(crate) fn new(action: AuditAction, record: impl ToString) -> Self {
        Self { record: Some(record.to_string()), ..Self::nameless(action) }
    }

    /// Returns an event that changed no record.
    pub(crate) fn nameless(action: AuditAction) -> Self {
        Self { action, record: None, before: None, after: None }
    }

    /// Returns the change with the record before and after it, as JSON. A longer one is left out, with its length.
    pub(crate) fn with_change(self, before: Option<String>, after: Option<String>) -> Self {
        let [before, after] = [before, after].map(|record| {
            record.map(|text| if text.len() > MAX_VALUE { omitted(&text) } else { text })
        });
        Self { before, after, ..self }
    }

    fn bytes(&self) -> usize {
        [&self.before, &self.after].into_iter().flatten().map(String::len).sum()
    }
}

/// Returns how many of the first entries share an audit record: the entries of one action, as far as they fit.
pub(crate) fn sharing(entries: &[AuditEntry]) -> usize {
    let mut bytes = 0;
    let fitting = entries.iter().take(MAX_IDS).take_while(|entry| {
        bytes += entry.bytes();
        // One entry alone always fits: each of its two records is left out beyond half of that.
        bytes <= MAX_VALUES && entries.first().is_some_and(|first| first.action == entry.action)
    });
    fitting.count()
}

/// Returns the records before the changes and after them, each as one JSON text; a list if there are several changes. Of
/// changes that do not fit any more there are the lengths.
pub(crate) fn changes(entries: &[AuditEntry]) -> [Option<String>; 2] {
    let mut bytes = 0;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for entry in entries {
        bytes += entry.bytes();
        for (texts, text) in [(&mut before, &entry.before), (&mut after, &entry.after)] {
            texts.push(text.as_ref().map(|text| {
                let is_omitted = bytes > MAX_VALUES && text.len() > MAX_OMITTED;
                if is_omitted { omitted(text) } else { text.clone() }
            }));
        }
    }
    [joined(&before), joined(&after)]
}

/// Returns what stands for a record that is left out.
fn omitted(text: &str) -> String {
    format!(r#"{{"omitted_bytes":{}}}"#, text.len())
}

fn joined(texts: &[Option<String>]) -> Option<String> {
    match texts {
        [text] => text.clone(),
        _ if texts.iter().all(Option::is_none) => None,
        _ => {
            let texts: Vec<&str> =
                texts.iter().map(|text| text.as_deref().unwrap_or("null")).collect();
            Some(format!("[{}]", texts.join(",")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(bytes: usize) -> AuditEntry {
        let text = Some(format!("\"{}\"", "x".repeat(bytes)));
        AuditEntry::new(AuditAction::RuleUpdated, "r").with_change(text, None)
    }

    #[test]
    fn an_audit_record_has_a_bound() {
        let many: Vec<_> = (0..300).map(|_| entry(10)).collect();
        assert_eq!(sharing(&many), MAX_IDS);
        let large: Vec<_> = (0..300).map(|_| entry(MAX_VALUE / 2)).collect();
        assert_eq!(sharing(&large), 3);
        let huge = [entry(MAX_VALUE), entry(1)];
        assert_eq!(changes(&huge[..1])[0].as_deref(), Some(r#"{"omitted_bytes":8194}"#));
        // One call names all, and shows those that fit.
        let call: Vec<_> =
            (0..MAX_IDS).map(|_| entry(MAX_VALUE / 2)).chain([entry(9_000)]).collect();
        let before = changes(&call)[0].clone().unwrap_or_default();
        let shown: Vec<serde_json::Value> = serde_json::from_str(&before).expect("a list");
        assert_eq!(shown.len(), MAX_IDS + 1);
        assert_eq!(shown.iter().filter(|one| one.is_string()).count(), 3);
        assert_eq!(shown[3], serde_json::json!({"omitted_bytes": MAX_VALUE / 2 + 2}));
        assert_eq!(shown[MAX_IDS], serde_json::json!({"omitted_bytes": 9_002}));
        assert!(before.len() < MAX_VALUES + MAX_IDS * MAX_OMITTED, "{}", before.len());
        let mixed = [entry(1), AuditEntry::new(AuditAction::RuleDeleted, "r")];
        assert_eq!(sharing(&mixed), 1);
        assert_eq!(changes(&mixed), [Some(r#"["x",null]"#.to_owned()), None]);
    }
}
