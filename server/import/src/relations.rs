//! The common part of the imports of systems that store relations: types, tuples, questions, and the content that they become.

pub(crate) mod answers;
pub(crate) mod condition;
pub(crate) mod content;
pub(crate) mod import;
pub(crate) mod line;
pub(crate) mod model;
pub(crate) mod model_text;
pub(crate) mod place;
pub(crate) mod questions;
pub(crate) mod source;
pub(crate) mod system;
pub(crate) mod tuples;
pub(crate) mod types;
pub(crate) mod yaml;
