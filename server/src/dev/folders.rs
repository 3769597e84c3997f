//! The folders that `portcullis dev DIR` serves: reads them, and says which directories to watch.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use portcullis_bundle::{Bundle, TENANT_FILE, list_folders};
use portcullis_tools::policy_test::tenant_folders;

use crate::nearest_folder::nearest_folder;

/// The most directories that are watched. A folder with more of them is not a folder of tenants.
const MAX_WATCHED: usize = 1_000;

/// Reads a tenant folder. The text of the error is for the user.
pub(super) fn read(folder: &Path) -> Result<Bundle, String> {
    Bundle::read_folder(folder).map_err(|error| error.to_string())
}

/// Reads the component of a resolver: the one file `*.wasm` in the folder of its module, which is the tenant's own or
/// one that it shares with its neighbours.
pub(super) fn component(folder: &Path, module: &str) -> Result<Vec<u8>, String> {
    let places = [folder.join("resolvers").join(module), folder.join("../resolvers").join(module)];
    let Some(place) = places.iter().find(|place| place.is_dir()) else {
        return Err(format!("`{}` has no folder for the resolver `{module}`", folder.display()));
    };
    let files = entries(place);
    let mut files =
        files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "wasm"));
    let (Some(file), None) = (files.next(), files.next()) else {
        return Err(format!(
            "`{}` needs exactly one component, a file `*.wasm`; `portcullis resolver build` makes it",
            place.display()
        ));
    };
    fs::read(file).map_err(|error| format!("`{}` cannot be read: {error}", file.display()))
}

/// Returns the directories whose changes matter for `dir`: itself, or while it is missing the one where it comes back; the
/// folders in it that are or become tenant folders, and in those the folders of lists and of resolvers. The folders inside those
/// are left out: builds write there.
pub(super) fn watched(dir: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::from([nearest_folder(dir)]);
    if !dir.join(TENANT_FILE).is_file() {
        all.extend(entries(dir).into_iter().filter(|entry| entry.is_dir() && !is_hidden(entry)));
    }
    for folder in tenant_folders(dir).unwrap_or_default() {
        for resolvers in [folder.join("resolvers"), folder.join("../resolvers")] {
            if resolvers.is_dir() {
                all.extend(entries(&resolvers).into_iter().filter(|entry| entry.is_dir()));
                all.insert(resolvers);
            }
        }
        all.extend(list_folders().map(|list| folder.join(list)).filter(|list| list.is_dir()));
        all.insert(folder);
    }
    // Two paths may name one directory.
    all.into_iter().filter_map(|path| path.canonicalize().ok()).take(MAX_WATCHED).collect()
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder);
    read.map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_resolvers_are_watched_but_not_what_builds_write() {
        let root = tempfile::tempdir().expect("a folder");
        let real = root.path().canonicalize().expect("a path");
        let at = |path: &str| real.join(path);
        for folder in [
            "acme/resolvers/own/target/debug",
            "acme/policies/old",
            "resolvers/shared",
            "other/notes",
            ".git",
        ] {
            fs::create_dir_all(at(folder)).expect("writable");
        }
        fs::write(at("acme/tenant.yaml"), "").expect("writable");
        let expected =
            ["", "acme", "acme/policies", "acme/resolvers", "acme/resolvers/own", "other"].map(at);
        let shared = ["resolvers", "resolvers/shared"].map(at);
        let expected: BTreeSet<PathBuf> = expected.into_iter().chain(shared).collect();
        // A path that ends with `/` is equal to one that does not.
        assert_eq!(watched(&real), expected);
        assert_eq!(tenant_folders(&real).ok(), Some(vec![at("acme")]));
        assert_eq!(tenant_folders(&at("acme")).ok(), Some(vec![at("acme")]));
        let of_tenant = ["acme", "acme/policies", "acme/resolvers", "acme/resolvers/own"].map(at);
        let of_tenant = of_tenant.into_iter();
        let of_tenant = of_tenant.chain(["resolvers", "resolvers/shared"].map(at));
        assert_eq!(watched(&at("acme")), of_tenant.collect());
        let fault = |path| tenant_folders(&at(path)).expect_err("a fault").to_string();
        assert!(
            fault("other").contains("no `tenant.yaml`; `portcullis init "),
            "{}",
            fault("other")
        );
        assert!(fault("none").contains("cannot be read"));
    }

    #[test]
    fn a_folder_that_is_gone_is_awaited_above() {
        let root = tempfile::tempdir().expect("a folder");
        let real = root.path().canonicalize().expect("a path");
        for gone in ["acme", "tenants/acme"] {
            assert_eq!(watched(&real.join(gone)), BTreeSet::from([real.clone()]));
        }
    }

    #[test]
    fn a_resolver_has_exactly_one_component() {
        let root = tempfile::tempdir().expect("a folder");
        let module = root.path().join("resolvers/geo");
        assert!(component(root.path(), "geo").expect_err("missing").contains("has no folder"));
        fs::create_dir_all(&module).expect("writable");
        assert!(component(root.path(), "geo").expect_err("none").contains("exactly one component"));
        fs::write(module.join("any-name.wasm"), "bytes").expect("writable");
        assert_eq!(component(root.path(), "geo"), Ok(b"bytes".to_vec()));
        fs::write(module.join("other.wasm"), "bytes").expect("writable");
        assert!(component(root.path(), "geo").expect_err("two").contains("exactly one component"));
    }
}
