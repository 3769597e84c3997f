//! Stores: a model with its tuples and tests, in one file or in several.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{dsl, json, tuples};
use crate::relations::condition::Context;
use crate::relations::model::Model;
use crate::relations::place::Place;
use crate::relations::source::{first_line, named, opened};
use crate::relations::tuples::StoredTuple;
use crate::relations::yaml;

/// A store as its files say it.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) name: Option<String>,
    pub(super) model: Model,
    pub(super) tuples: Vec<(Place, StoredTuple)>,
    pub(super) tests: Vec<StoreTest>,
}

/// A test with its tuples.
#[derive(Debug)]
pub(super) struct StoreTest {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) tuples: Vec<(Place, StoredTuple)>,
    pub(super) checks: Vec<Spanned<CheckTest>>,
    pub(super) list_objects: Vec<Spanned<ListObjectsTest>>,
    pub(super) list_users: Vec<Spanned<ListUsersTest>>,
}

/// Users and objects: the test asks about each pair of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckTest {
    pub(super) user: Option<String>,
    pub(super) users: Option<Vec<String>>,
    pub(super) object: Option<String>,
    pub(super) objects: Option<Vec<String>>,
    pub(super) context: Option<Context>,
    pub(super) assertions: BTreeMap<String, Spanned<bool>>,
}

/// The objects that a user has a relation to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListObjectsTest {
    pub(super) user: String,
    #[serde(rename = "type")]
    pub(super) object_type: String,
    pub(super) context: Option<Context>,
    pub(super) assertions: BTreeMap<String, Spanned<Option<Vec<String>>>>,
}

/// The users that have a relation to an object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListUsersTest {
    pub(super) object: String,
    pub(super) user_filter: Vec<UserFilter>,
    pub(super) context: Option<Context>,
    pub(super) assertions: BTreeMap<String, Spanned<ListedUsers>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UserFilter {
    #[serde(rename = "type")]
    pub(super) user_type: String,
    pub(super) relation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListedUsers {
    pub(super) users: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreFile {
    name: Option<String>,
    model: Option<Spanned<String>>,
    model_file: Option<Spanned<String>>,
    tuples: Option<Vec<Spanned<StoredTuple>>>,
    tuple_file: Option<Spanned<String>>,
    tuple_files: Option<Vec<Spanned<String>>>,
    tests: Option<Vec<Spanned<TestFile>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestFile {
    name: Option<String>,
    #[serde(rename = "description")]
    _description: Option<String>,
    tuples: Option<Vec<Spanned<StoredTuple>>>,
    tuple_file: Option<Spanned<String>>,
    tuple_files: Option<Vec<Spanned<String>>>,
    check: Option<Vec<Spanned<CheckTest>>>,
    list_objects: Option<Vec<Spanned<ListObjectsTest>>>,
    list_users: Option<Vec<Spanned<ListUsersTest>>>,
}

/// The file `fga.mod`.
#[derive(Deserialize)]
struct ModuleList {
    contents: Vec<Spanned<String>>,
}

impl Store {
    /// Reads a store file, and the files that it names.
    ///
    /// # Errors
    /// A file that cannot be read, or its first fault.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let (text, start) = opened(path)?;
        let file: StoreFile = yaml::parse(&text, &start).map_err(anyhow::Error::msg)?;
        let model = match (file.model, file.model_file) {
            // A model inside the file has lines of its own, so its faults need the line at which it begins.
            (Some(model), None) => model_from(&model.value, &first_line(&model, &text, &start))?,
            (None, Some(name)) => named(&name, &start, read_model)?,
            _ => anyhow::bail!(start.says("expected `model` or `model_file`")),
        };
        let mut tuples: Vec<_> = tuples::placed(file.tuples.unwrap_or_default(), &start).collect();
        for name in file.tuple_file.into_iter().chain(file.tuple_files.unwrap_or_default()) {
            tuples.extend(named(&name, &start, read_tuples)?);
        }
        let tests = file.tests.unwrap_or_default().into_iter();
        let tests = tests.map(|test| StoreTest::read(test, &start)).collect::<Result<_, _>>()?;
        Ok(Self { name: file.name, model, tuples, tests })
    }

    /// Reads a model and its tuples from files without tests.
    ///
    /// # Errors
    /// A file that cannot be read, or its first fault.
    pub(super) fn without_tests(model: &Path, tuples: Option<&Path>) -> anyhow::Result<Self> {
        let tuples = tuples.map(read_tuples).transpose()?.unwrap_or_default();
        Ok(Self { name: None, model: read_model(model)?, tuples, tests: Vec::new() })
    }
}

impl StoreTest {
    fn read(test: Spanned<TestFile>, start: &Place) -> anyhow::Result<Self> {
        let place = yaml::place(&test, start);
        let file = test.value;
        let mut tuples: Vec<_> = tuples::placed(file.tuples.unwrap_or_default(), start).collect();
        for name in file.tuple_file.into_iter().chain(file.tuple_files.unwrap_or_default()) {
            tuples.extend(named(&name, start, read_tuples)?);
        }
        Ok(Self {
            place,
            name: file.name.unwrap_or_else(|| "test".to_owned()),
            tuples,
            checks: file.check.unwrap_or_default(),
            list_objects: file.list_objects.unwrap_or_default(),
            list_users: file.list_users.unwrap_or_default(),
        })
    }
}

/// Reads a model, or the modules that a file ending in `.mod` names.
fn read_model(path: &Path) -> anyhow::Result<Model> {
    let (text, start) = opened(path)?;
    if path.extension().is_none_or(|end| end != "mod") {
        let model = model_from(&text, &start)?;
        anyhow::ensure!(
            !model.is_module,
            start.says("one module of several; give their `fga.mod`")
        );
        return Ok(model);
    }
    let ModuleList { contents } = yaml::parse(&text, &start).map_err(anyhow::Error::msg)?;
    let modules = contents.iter().map(|name| {
        named(name, &start, |path| {
            let (text, start) = opened(path)?;
            model_from(&text, &start)
        })
    });
    let modules = modules.collect::<anyhow::Result<Vec<_>>>()?;
    Model::from_modules(modules).map_err(anyhow::Error::msg)
}

fn read_tuples(path: &Path) -> anyhow::Result<Vec<(Place, StoredTuple)>> {
    let (text, start) = opened(path)?;
    tuples::read(&text, &start).map_err(anyhow::Error::msg)
}

/// Parses a model, which is JSON if it is an object.
fn model_from(text: &str, start: &Place) -> anyhow::Result<Model> {
    let parsed = match text.trim_start().starts_with('{') {
        true => json::parse(text, start),
        false => dsl::parse(text, start),
    };
    parsed.map_err(anyhow::Error::msg)
}
