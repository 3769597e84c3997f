//! `portcullis import`: turns the rules of other systems into what a Portcullis tenant has.

mod api;
mod csv;
mod destination;
mod fault;
mod files;
mod relations;
mod rule;

pub mod casbin;
pub mod openfga;
pub mod spicedb;
