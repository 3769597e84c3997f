//! The digest of what a plan read (`docs/semantics.md`, section 10.3).

use portcullis_bundle::BundleDocument;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::applied_record::AppliedRecord;
use crate::content::kinds::{ContentRecord, each_kind};
use crate::content::tenant_content::TenantContent;

/// Returns the digest of the objects of the owner, the objects that the bundle names, the settings and the cases.
pub(super) fn fingerprint(
    state: &TenantContent,
    bundle: &BundleDocument,
    owner: Option<&str>,
    domain: &str,
) -> String {
    let mut digest = Sha256::new();
    add_records(&mut digest, (state, bundle), owner, domain);
    add(&mut digest, "settings", [&state.settings]);
    add(&mut digest, "cases", &state.guards.case_texts);
    add(&mut digest, "users", &state.guards.user_texts);
    let digest = digest.finalize();
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

macro_rules! add_records {
    ($($(#[$about:meta])* $list:ident: $record:ty,)*) => {
        /// Adds the records of each kind that a plan read.
        fn add_records(
            digest: &mut Sha256,
            (state, bundle): (&TenantContent, &BundleDocument),
            owner: Option<&str>,
            domain: &str,
        ) {
            $(
                let read = <$record>::read(state, bundle, owner, domain);
                if <$record>::HAS_EMPTY_PART || !read.is_empty() {
                    add(digest, <$record>::KIND.facts().list, read);
                }
            )*
        }
    };
}

each_kind!(add_records);

/// Adds the records of one kind, each on its own line.
fn add<T: Serialize>(digest: &mut Sha256, kind: &str, records: impl IntoIterator<Item = T>) {
    digest.update(kind);
    for record in records {
        digest.update(b"\n");
        // Compact JSON has no line break, so that two lines never look like one.
        digest.update(serde_json::to_vec(&record).unwrap_or_default());
    }
    digest.update(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proposals and plans of versions without roles have this digest.
    #[test]
    fn a_digest_has_no_part_for_roles_that_were_not_read() {
        let bundle = BundleDocument { rules: Some(Vec::new()), ..BundleDocument::default() };
        let state = TenantContent { revision: 1, ..TenantContent::default() };
        let settings = serde_json::to_string(&state.settings).expect("JSON");
        let text = format!(
            "resources\n\nrules\n\npolicies\n\nresolvers\n\nwebhooks\n\nsettings\n{settings}\n\ncases\n\nusers\n\n"
        );
        let digits: String =
            Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        let fingerprint = fingerprint(&state, &bundle, Some("git:o"), "acme");
        assert_eq!(fingerprint, format!("sha256:{digits}"));
    }
}
