//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use portcullis_bench as bench;
use portcullis_tools::{import, resolver_cli};

/// Portcullis: a multi-tenant authorization service.
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the service; configured by environment variables.
    Serve(EnvFile),
    /// Run it on this machine with sample tenants and a development identity provider.
    ///
    /// Not for production: anybody on this machine can get a token. Takes LISTEN_ADDR (loopback only),
    /// LOG_FORMAT and RUST_LOG.
    Dev {
        /// Where the database and the issuer's key are kept.
        #[arg(long, default_value = ".portcullis-dev")]
        data_dir: PathBuf,
    },
    /// Create the database or bring its schema up to date, and stop.
    Migrate(EnvFile),
    /// Manage service API keys.
    #[command(subcommand)]
    Keys(Keys),
    /// Import rules from another system.
    #[command(subcommand)]
    Import(Import),
    /// Run the test cases of tenants kept as files, without a server.
    Test {
        /// A tenant's folder, or a folder of them.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Run only the cases whose name contains this text.
        #[arg(long)]
        case: Option<String>,
    },
    /// Make, build, test and install attribute resolvers.
    Resolver {
        #[command(subcommand)]
        command: resolver_cli::ResolverCommand,
    },
    /// Measure what decisions cost on a tenant's own rules, without a server.
    Bench {
        #[command(flatten)]
        arguments: bench::BenchArguments,
        #[command(flatten)]
        file: EnvFile,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Create a service API key and print it; it cannot be shown again.
    Create {
        /// The tenant's id; in `saas` mode its slug will do.
        #[arg(long)]
        tenant: String,
        /// What the key is for.
        #[arg(long)]
        name: String,
        /// What it may do, such as `resources:read,resources:write`; everything without this.
        #[arg(long, value_delimiter = ',')]
        permissions: Vec<String>,
        #[command(flatten)]
        file: EnvFile,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Turn a Casbin model and policy into RBAC rules.
    ///
    /// Nothing is imported when a line of the policy cannot be expressed, unless --skip-unsupported says so.
    Casbin {
        #[command(flatten)]
        arguments: import::ImportArguments,
        #[command(flatten)]
        file: EnvFile,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct EnvFile {
    /// A file of NAME=value lines; the environment overrides it.
    #[arg(long, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
}
