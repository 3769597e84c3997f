//! The sample tenants of the repository's `policies` folder, which are part of the binary.

use std::io;

use include_dir::{Dir, File, include_dir};

use crate::bundle::{Bundle, read_files};
use crate::error::BundleError;
use crate::files::Files;
use crate::sources::FileSource;

/// A file of `policies/resolvers`, with its path.
macro_rules! embedded {
    ($path:literal) => {
        (
            $path,
            include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../policies/resolvers/",
                $path
            )),
        )
    };
}

/// The sample tenants, by the names of their folders in `policies`.
pub(super) static EMBEDDED: [(&str, Dir<'_>); 2] = [
    ("hospital", include_dir!("$CARGO_MANIFEST_DIR/../../policies/hospital")),
    ("software-shop", include_dir!("$CARGO_MANIFEST_DIR/../../policies/software-shop")),
];

/// The files of the sample resolvers: component, manifest and descriptor, and the people of the directory.
static EMBEDDED_RESOLVERS: [(&str, &[u8]); 10] = [
    embedded!("business-hours/business-hours.wasm"),
    embedded!("business-hours/descriptor.json"),
    embedded!("business-hours/manifest.json"),
    embedded!("hr-directory/descriptor.json"),
    embedded!("hr-directory/hr-directory.wasm"),
    embedded!("hr-directory/manifest.json"),
    embedded!("hr-directory/people.json"),
    embedded!("network-zone/descriptor.json"),
    embedded!("network-zone/manifest.json"),
    embedded!("network-zone/network-zone.wasm"),
];

/// A file of `policies/resolvers`, by its path in there.
pub fn embedded_resolver_file(path: &str) -> Option<&'static [u8]> {
    EMBEDDED_RESOLVERS.iter().find(|(known, _)| *known == path).map(|(_, bytes)| *bytes)
}

impl Bundle {
    /// The tenants of the repository's `policies` folder, by name.
    ///
    /// # Errors
    /// Only what a test of this module would have found before the binary was built.
    pub fn embedded() -> Result<Vec<Self>, BundleError> {
        let bundles = EMBEDDED.iter().map(|(name, folder)| {
            read_files(&Files {
                folder: format!("policies/{name}"),
                source: EmbeddedFolder(folder.clone()),
            })
        });
        bundles.collect()
    }
}

/// A folder of the binary.
struct EmbeddedFolder(Dir<'static>);

impl FileSource for EmbeddedFolder {
    fn text(&self, name: &str) -> io::Result<String> {
        let file = match name.strip_prefix("../resolvers/") {
            Some(name) => embedded_resolver_file(name),
            None => self.0.get_file(name).map(File::contents),
        };
        let text = file.and_then(|bytes| str::from_utf8(bytes).ok()).map(str::to_owned);
        text.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn names(&self, folder: &str) -> io::Result<Vec<String>> {
        let files = self.0.get_dir(folder).map(Dir::files).into_iter().flatten();
        let names = files.filter_map(|file| file.path().file_name()?.to_str());
        let mut names: Vec<_> = names.map(str::to_owned).collect();
        // In the order in which a folder on disk is read.
        names.sort_unstable();
        Ok(names)
    }
}
