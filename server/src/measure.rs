//! `portcullis bench`: reads the tenant folders, and measures.

use std::io::Write;
use std::path::Path;

use portcullis_bench::{self as bench, BenchArguments, MeasuredFolder, Unusable};
use portcullis_config::Variables;
use portcullis_tools::policy_test::{self, TenantFolder};

/// Measures as the arguments say, and writes the results to `out`.
///
/// # Errors
/// An error of [`bench::run`] or of reading the folders.
pub(crate) fn run(
    arguments: &BenchArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let folders = match &arguments.path {
        Some(path) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(read(path, variables))?
        }
        None => Vec::new(),
    };
    bench::run(arguments, folders, variables, out)
}

/// Reads the tenant of the folder `path`, or of the folders in it. Calls the resolvers for the cases.
async fn read(path: &Path, variables: &Variables) -> anyhow::Result<Vec<MeasuredFolder>> {
    let found = policy_test::read_all(&[path.to_owned()]).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Unusable::error(lines.join("\n"))
    })?;
    let mut folders = Vec::with_capacity(found.len());
    for found in found {
        let answers = policy_test::answers(&found, variables).await;
        let answers = answers.map_err(|error| Unusable::error(error.to_string()))?;
        let TenantFolder { folder, bundle } = found;
        folders.push(MeasuredFolder { folder, bundle, answers });
    }
    Ok(folders)
}
