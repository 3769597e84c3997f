//! The command line.

use std::path::PathBuf;

use clap::builder::Styles;
use clap::{Parser, Subcommand};
use clap_complete::Shell;
use portcullis_tools::{
    as_code, audit, bench, can, check, console, convert, decisions, fmt, init, keys, lint,
    log_cases, matrix, policy_test, replay, resolver_cli, schema, types,
};
use uuid::Uuid;

/// `portcullis cases`.
#[derive(Debug, Subcommand)]
pub(crate) enum Cases {
    /// Print cases that recorded decisions of a service make, as a file `cases.yaml`.
    FromLog(log_cases::FromLogArguments),
}

/// The commands of `portcullis --help`, by what they are for.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Model", &["init", "test", "lint", "fmt", "convert", "schema", "types"]),
    ("Ship", &["plan", "apply", "drift", "export", "import", "diff", "replay", "cases"]),
    ("Ask", &["check", "who-can", "what-can", "matrix"]),
    ("Know", &["decisions", "audit", "bench"]),
    ("Run", &["serve", "dev", "doctor", "migrate", "console", "keys", "tenants", "secrets"]),
    ("Extend", &["resolver", "completions"]),
];

/// Returns the help with the commands in their groups, which clap has for arguments alone.
fn help_template() -> String {
    let mut commands = Command::augment_subcommands(clap::Command::new("commands"));
    commands.build();
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max();
    let (width, styles) = (width.unwrap_or_default(), Styles::styled());
    let (heading, literal) = (styles.get_header(), styles.get_literal());
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        template += &format!("\n{heading}{group}:{heading:#}\n");
        for command in names.iter().filter_map(|name| commands.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            template += &format!("  {literal}{:width$}{literal:#}  {about}\n", command.get_name());
        }
    }
    template + &format!("\n{heading}Options:{heading:#}\n{{options}}\n")
}

/// Portcullis: a multi-tenant authorization service.
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, arg_required_else_help = true)]
#[command(help_template = help_template())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the service. Environment variables configure it.
    Serve(EnvFile),
    /// Write a first tenant folder: users, resources, rules, policies and test cases, with comments.
    ///
    /// Asks three questions in a terminal. No file is overwritten.
    Init(init::InitArguments),
    /// Run the service on this machine for a folder, or for sample tenants, with a development identity provider.
    ///
    /// A change of a file in the folder is served at once. Not for production: everybody on this machine can get a token.
    /// Reads LISTEN_ADDR (loopback only), LOG_FORMAT and RUST_LOG.
    Dev {
        /// A tenant folder, or a folder of tenant folders (default: the sample tenants).
        dir: Option<PathBuf>,
        /// The directory for the database and the key of the identity provider. One process uses it at a time.
        #[arg(long, default_value = ".portcullis-dev")]
        data_dir: PathBuf,
        /// The port to listen on, 0 for a free one [default: the port of LISTEN_ADDR, else 8080].
        #[arg(long, value_name = "N")]
        port: Option<u16>,
    },
    /// Ask a running service, or a folder, whether a subject may do something.
    ///
    /// The exit code is 0 for allow and 3 for deny. It is 1 if there is no decision, and 2 if the arguments make no check.
    Check(check::CheckArguments),
    /// Say what is wrong with the settings of the service, or will be. Nothing is changed, and no secret is shown.
    ///
    /// Looks at the database, keys, identity provider, clock, disks, record of decisions, ports and hosts of webhooks. The exit
    /// code is 1 if something is wrong.
    Doctor {
        /// Ask only whether the service that runs with these settings is ready.
        #[arg(long)]
        ready: bool,
        #[command(flatten)]
        file: EnvFile,
    },
    /// Create the database or update its schema, and exit.
    Migrate(EnvFile),
    /// Manage service API keys.
    #[command(subcommand)]
    Keys(Keys),
    /// Sign people in to the console without an identity provider.
    #[command(subcommand)]
    Console(Console),
    /// List, suspend, resume and delete tenants.
    #[command(subcommand)]
    Tenants(Tenants),
    /// Print the audit records, newest first.
    Audit {
        #[command(flatten)]
        arguments: audit::AuditArguments,
        #[command(flatten)]
        file: EnvFile,
    },
    /// Read, erase and verify the record of decisions.
    #[command(subcommand)]
    Decisions(Decisions),
    /// Manage the encryption of stored secrets.
    #[command(subcommand)]
    Secrets(Secrets),
    /// Import rules from another system, or tuples and entities from a file.
    #[command(subcommand)]
    Import(Import),
    /// Write the content of a tenant as files: a tenant folder.
    Export(as_code::ExportArguments),
    /// Show what an apply of a tenant folder changes.
    ///
    /// The exit code is 0 if it changes nothing, 2 if it changes something, and 1 if the service would refuse it.
    Plan(as_code::PlanArguments),
    /// Apply a tenant folder atomically.
    Apply(as_code::ApplyArguments),
    /// Show how the objects of an owner differ from a tenant folder, or what decides and has no owner.
    ///
    /// The exit code is 0 if there is nothing to show, and 2 if there is something.
    Drift(as_code::DriftArguments),
    /// Let the rules of a tenant folder, a draft or a revision decide recorded decisions again, and show what differs.
    ///
    /// The exit code is 0 without a difference that `--fail-on` names, 1 with one, and 2 after an error.
    Replay(replay::ReplayArguments),
    /// Make cases of tenant folders.
    #[command(subcommand)]
    Cases(Cases),
    /// Run the test cases of tenants kept as files, without a server.
    ///
    /// The exit code is 0 if all pass, 1 if one fails or too little is covered, and 2 if nothing could be tested.
    Test(policy_test::CaseTestArguments),
    /// Print what the rules and policies of a folder or a service decide: roles × resources × actions × domains.
    ///
    /// A cell that is not printed is denied. Attributes are unknown, so that an outcome may depend on them. The exit code is 1 if
    /// the output is not complete, and with a second folder that of `diff`.
    Matrix(matrix::MatrixArguments),
    /// Print what changes for decisions from one folder to another.
    ///
    /// The exit code is 0 if no decision changes, 2 if one does or not everything could be compared, and 1 if a folder
    /// cannot be read.
    Diff(matrix::DiffArguments),
    /// Print which roles and subjects of a folder or a service may do something.
    ///
    /// Attributes are unknown, so that the answer may depend on them. Who is not printed is denied. The exit code is 1 if the
    /// output is not complete.
    WhoCan(can::WhoCanArguments),
    /// Print what a subject may do on the resources of a folder or a service.
    ///
    /// Attributes are unknown, so that the answer may depend on them. What is not printed is denied. The exit code is 1 if the
    /// output is not complete.
    WhatCan(can::WhatCanArguments),
    /// Write the expressions of tenants kept as files in their canonical form.
    ///
    /// Nothing else in a file changes. The exit code is 1 if `--check` finds a file that would change, and 2 after a fault.
    Fmt(fmt::FormatArguments),
    /// Write a condition, also one of a Casbin matcher, as a tree or an expression.
    ///
    /// The exit code is 1 if a part has no counterpart, and 2 if the condition cannot be read.
    Convert(convert::ConvertArguments),
    /// Find mistakes in tenants kept as files: names that nothing has, policies and rules that never decide.
    ///
    /// The exit code is 0 if there is no error, 1 if there is one, and 2 if a file cannot be read.
    Lint(lint::LintArguments),
    /// Create, build, test and install attribute resolvers.
    Resolver {
        #[command(subcommand)]
        command: resolver_cli::ResolverCommand,
    },
    /// Print JSON Schemas for tenant files, for completion and validation in editors.
    Schema(schema::SchemaArguments),
    /// Print the names of a tenant folder as types of a programming language: attributes and resources.
    ///
    /// Java comes as the file PortcullisTypes.java.
    Types(types::TypesArguments),
    /// Print the completions of a shell.
    Completions {
        /// The shell that reads them.
        shell: Shell,
    },
    /// Write the man pages of all commands to a folder. Packages contain them.
    #[command(hide = true)]
    ManPages {
        /// A folder that exists.
        directory: PathBuf,
    },
    /// Compile the resolver component on standard input, within these limits. The service runs this itself.
    #[command(hide = true)]
    CompileComponent(CompileComponent),
    /// Measure what decisions cost on a tenant's own rules, without a server.
    Bench {
        #[command(flatten)]
        arguments: bench::BenchArguments,
        #[command(flatten)]
        file: EnvFile,
    },
}

/// `portcullis console`.
#[derive(Debug, Subcommand)]
pub(crate) enum Console {
    /// Print a link that signs somebody in to the console once, within ten minutes.
    Link {
        #[command(flatten)]
        arguments: console::LinkArguments,
        #[command(flatten)]
        file: EnvFile,
    },
}

/// `portcullis keys`.
#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Create a service API key and print it; it cannot be shown again.
    Create {
        #[command(flatten)]
        arguments: keys::CreateKeyArguments,
        #[command(flatten)]
        file: EnvFile,
    },
    /// List the service API keys of a tenant, without their secrets.
    List {
        /// The tenant's id, or in `saas` mode its slug.
        #[arg(long)]
        tenant: String,
        #[command(flatten)]
        file: EnvFile,
    },
    /// Revoke a service API key.
    Revoke {
        /// The tenant's id, or in `saas` mode its slug.
        #[arg(long)]
        tenant: String,
        /// The id of the key, as `keys list` shows it.
        #[arg(value_parser = keys::key_id)]
        id: Uuid,
        #[command(flatten)]
        file: EnvFile,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tenants {
    /// List all tenants and their states.
    List {
        #[command(flatten)]
        file: EnvFile,
    },
    /// Refuse every credential of a tenant and pause its webhooks, until it is resumed.
    Suspend {
        /// The tenant's id, or in `saas` mode its slug.
        tenant: String,
        #[command(flatten)]
        file: EnvFile,
    },
    /// End the suspension of a tenant.
    Resume {
        /// The tenant's id, or in `saas` mode its slug.
        tenant: String,
        #[command(flatten)]
        file: EnvFile,
    },
    /// Delete a tenant with all its data, for ever.
    ///
    /// If the command is interrupted, the service or another call continues.
    Delete {
        /// The tenant's id, or in `saas` mode its slug.
        tenant: String,
        #[command(flatten)]
        file: EnvFile,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Decisions {
    /// Print new decisions as they are made.
    Tail(decisions::TailDecisions),
    /// Print decisions, newest first, one in a line.
    ///
    /// The exit code is 1 if there are more.
    Search {
        #[command(flatten)]
        arguments: decisions::DecisionSearch,
        /// The maximum number to print.
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        limit: usize,
    },
    /// Print one decision as JSON, with everything that it was made from.
    Show(decisions::ShowDecision),
    /// Write decisions to the standard output, newest first, each as a line of JSON.
    Export(decisions::DecisionSearch),
    /// Erase the decisions about a person, and print their number. Later decisions are recorded.
    Erase(decisions::EraseDecisions),
    /// Compare the sealed files of the record with their manifest, with the variables of the service and without a running one.
    ///
    /// Prints each erased file with its digests from before and after. The exit code is 0 if the record is whole, 1 if
    /// something is wrong or missing, and 2 after an error.
    Verify {
        #[command(flatten)]
        file: EnvFile,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Encrypt every stored secret with the first key of ENCRYPTION_KEY, and count those that other keys still encrypt.
    ///
    /// Ends with exit code 1 while another key is needed. If the command is interrupted, another call continues.
    Reencrypt {
        #[command(flatten)]
        file: EnvFile,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Turn a Casbin model and policy into RBAC rules.
    ///
    /// If Portcullis cannot express a line of the policy, nothing is imported, unless you give
    /// --skip-unsupported. A name of --out that ends in `.yaml` is the file of the rules.
    Casbin {
        #[command(flatten)]
        arguments: portcullis_import::casbin::CasbinArguments,
        #[command(flatten)]
        file: EnvFile,
    },
    /// Write a file of tuples, one in a line, into a running service.
    ///
    /// A line is a JSON object as the API takes it, or `document:plan#viewer@group:eng#member`. If the command is
    /// interrupted, another call goes on.
    Relations {
        #[command(flatten)]
        arguments: portcullis_tools::load::LoadArguments,
        #[command(flatten)]
        file: EnvFile,
    },
    /// Write a file of entities, one JSON object in a line, into a running service.
    ///
    /// If the command is interrupted, another call goes on.
    Entities {
        #[command(flatten)]
        arguments: portcullis_tools::load::LoadArguments,
        #[command(flatten)]
        file: EnvFile,
    },
    /// Turn an OpenFGA model, its tuples and its tests into types, rules, relations and cases.
    ///
    /// If Portcullis cannot express a line, nothing is imported.
    Openfga {
        #[command(flatten)]
        arguments: portcullis_import::openfga::OpenfgaArguments,
        #[command(flatten)]
        file: EnvFile,
    },
    /// Turn a SpiceDB schema, its relationships and its assertions into types, rules, relations and cases.
    ///
    /// If Portcullis cannot express a line, nothing is imported.
    Spicedb {
        #[command(flatten)]
        arguments: portcullis_import::spicedb::SpicedbArguments,
        #[command(flatten)]
        file: EnvFile,
    },
}

/// The limits of a compilation.
#[derive(Debug, clap::Args)]
pub(crate) struct CompileComponent {
    /// The address space of the process.
    #[arg(long)]
    pub(crate) memory_bytes: u64,
    /// The processor time of all threads.
    #[arg(long)]
    pub(crate) processor_seconds: u64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EnvFile {
    /// A file of NAME=value lines; environment variables override it.
    #[arg(long, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn help_has_each_command_once_in_a_group() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
        let help = Cli::command().render_help().to_string();
        for (name, about) in [
            ("\nAsk:\n  check        ", "Ask a running service"),
            ("\n  completions  ", "Print the completions"),
            ("\nOptions:\n  -h, --help ", ""),
        ] {
            assert!(help.contains(&format!("{name}{about}")), "{help}");
        }
    }
}
