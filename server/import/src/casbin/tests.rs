//! Imported rules and policies decide as Casbin does, for every value of the file and for strangers. Parts that
//! Portcullis cannot express are named by their line.

mod actions;
mod domains;
mod examples;
mod files;
mod generated;
mod live;
mod refusals;
mod support;
