//! The commands of the binary that work on files of tenants, on the API of a service, or on its database: from `init` and
//! `check` to `apply`.

pub mod as_code;
pub mod audit;
pub mod bench;
pub mod can;
pub mod check;
mod condition_text;
pub mod console;
pub mod convert;
pub mod decision_files;
pub mod decisions;
mod exit;
pub mod fmt;
mod humanize;
pub mod init;
pub mod keys;
pub mod lint;
pub mod load;
pub mod log_cases;
pub mod matrix;
mod moments;
mod operator;
pub mod policy_test;
pub mod remote;
pub mod remote_arguments;
pub mod replay;
pub mod report;
pub mod resolver_cli;
pub mod schema;
pub mod secrets;
pub mod service;
mod service_url;
pub mod tenants;
pub mod types;
