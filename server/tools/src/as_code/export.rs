//! `portcullis export`: writes the content of a tenant as a tenant folder.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use portcullis_bundle::{
    Bundle, ExportedContent, FolderFile, TENANT_FILE, folder_files, list_folders,
};
use portcullis_config::Variables;
use portcullis_engine::{Json, json};
use portcullis_model::service_key::{DOMAIN_FORM, is_domain};

use super::arguments::owner;
use crate::service::{Service, ServiceArguments};

/// The arguments of `portcullis export`.
#[derive(Debug, clap::Args)]
pub struct ExportArguments {
    #[command(flatten)]
    service: ServiceArguments,
    /// The folder that gets the files.
    #[arg(long, value_name = "DIR")]
    tenant_folder: PathBuf,
    /// Only the objects of this owner.
    #[arg(long, value_parser = owner)]
    owner: Option<String>,
    /// The id of the tenant, if the folder has no `tenant.yaml` that says it.
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Replace files that are there already.
    #[arg(long)]
    force: bool,
}

/// Writes the files. Nothing is written if one of them is there, unless `--force` is given. `tenant.yaml` is kept if it is
/// there: it has users that the service does not know.
///
/// # Errors
/// The service gives no export, or a file is there or cannot be written.
pub async fn run(
    arguments: &ExportArguments,
    variables: &Variables,
    err: &mut (dyn Write + Send),
) -> anyhow::Result<ExitCode> {
    let ExportArguments { service, tenant_folder: folder, owner, tenant, force } = arguments;
    let has_tenant = folder.join(TENANT_FILE).is_file();
    if !has_tenant && tenant.is_none() {
        bail!(
            "`{}` has no `{TENANT_FILE}`; name the id of the tenant with --tenant",
            folder.display()
        );
    }
    if let Some(tenant) = tenant.as_deref().filter(|tenant| !is_domain(tenant)) {
        bail!("--tenant: expected {DOMAIN_FORM}, not `{tenant}`");
    }
    let service = Service::new(service, variables)?;
    let query: Vec<(&str, &str)> =
        owner.as_deref().map(|owner| ("owner", owner)).into_iter().collect();
    let body = service.get("export", &query).await?;
    let export = json::parse(&body).context("the export")?;
    let kinds = export.get("bundle").context("the export has no `bundle`")?;
    let descriptors = descriptors(&service, kinds).await?;
    let content = ExportedContent {
        tenant: tenant.as_deref().unwrap_or_default(),
        kinds,
        descriptors: &descriptors,
    };
    let mut files = folder_files(&content)?;
    files.retain(|file| !has_tenant || file.name != TENANT_FILE);
    write(folder, &files, *force)?;
    // The command reads back what it wrote: a service can have what a folder may not.
    let bundle = Bundle::read_folder(folder);
    for warning in bundle.iter().flat_map(|bundle| &bundle.warnings) {
        writeln!(err, "warning: {warning}")?;
    }
    let revision = export.get("revision").map(ToString::to_string).unwrap_or_default();
    writeln!(err, "{} files written to {}: revision {revision}", files.len(), folder.display())?;
    if let Err(error) = bundle {
        // The files say what the service has. What does not fit is for the user to mend.
        let id = match tenant {
            // The cases name rules in the domain of the tenant, which may have another id.
            Some(id) if !has_tenant => format!(" with the tenant `{id}` (--tenant)"),
            _ => String::new(),
        };
        bail!("the folder is not valid yet{id}:\n{error}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the descriptors of the modules of the tenant's resolvers, by their namespaces.
async fn descriptors(
    service: &Service,
    kinds: &Json<'_>,
) -> anyhow::Result<Vec<(String, Json<'static>)>> {
    let has_resolvers =
        kinds.get("resolvers").and_then(Json::as_array).is_some_and(|all| !all.is_empty());
    if !has_resolvers {
        return Ok(Vec::new());
    }
    let records = service.list("resolvers").await?;
    let own = records.iter().filter(|record| record["origin"] == "tenant");
    own.map(|record| {
        let namespace = record["namespace"].as_str().unwrap_or_default().to_owned();
        let module = record["module"].to_string();
        let module = json::parse(module.as_bytes())?.into_owned();
        Ok((namespace, module))
    })
    .collect()
}

/// Writes all files or, if one of them is there and `force` is false, none.
fn write(folder: &Path, files: &[FolderFile], force: bool) -> anyhow::Result<()> {
    for list in list_folders() {
        if folder.join(list).is_dir() {
            let folder = folder.join(list);
            bail!(
                "{}: the export writes one file for each list; export to another folder, and compare",
                folder.display()
            );
        }
    }
    let taken = files.iter().map(|file| folder.join(&file.name)).find(|path| path.exists());
    if let Some(taken) = taken.filter(|_| !force) {
        bail!("{} is there already; use --force to replace it", taken.display());
    }
    for file in files {
        let path = folder.join(&file.name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        fs::write(&path, &file.text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
