//! The relations of types as rows have them: each with the number by which tuples name it.

use std::collections::{BTreeMap, HashMap, HashSet};

use portcullis_directory::{RelationDefinition, RelationNumber, read_relations};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Json, json};
use portcullis_model::relation_declaration::{RelationDeclaration, RelationDeclarations};
use portcullis_model::types::TypeRecord;

use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, fetch_optional};
use crate::transactions::tx::Tx;

const CORRUPT: StoreError = StoreError::Corrupt { what: "types.relations" };

/// The numbers of the relations of one type, by name.
type RelationNumbers = BTreeMap<String, RelationNumber>;

/// The relations of one type with their numbers.
#[derive(Clone, Debug)]
pub struct NumberedRelations {
    /// The name of the type.
    pub kind: String,
    /// In the order of names.
    pub relations: Vec<(RelationNumber, RelationDefinition)>,
}

impl NumberedRelations {
    /// Reads the column `relations` of the type `kind`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]
    pub(crate) fn read(kind: &str, text: &str) -> Result<Self, StoreError> {
        Self::from_json(kind, &json::parse(text.as_bytes()).map_err(|_| CORRUPT)?)
    }

    /// Reads the text of [`StoredFacts::relations`].
    ///
    /// [`StoredFacts::relations`]: crate::content::plan_records::StoredFacts::relations
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]
    pub fn read_all(text: &str) -> Result<Vec<Self>, StoreError> {
        let stored = json::parse(text.as_bytes()).map_err(|_| CORRUPT)?;
        let types = stored.as_object().ok_or(CORRUPT)?.iter();
        types.map(|(kind, relations)| Self::from_json(kind, relations)).collect()
    }

    fn from_json(kind: &str, stored: &Json<'_>) -> Result<Self, StoreError> {
        let (mut numbers, mut definitions) = (Vec::new(), Vec::new());
        for (name, relation) in stored.as_object().ok_or(CORRUPT)? {
            let [Json::Number(number), definition] = relation.as_array().ok_or(CORRUPT)? else {
                return Err(CORRUPT);
            };
            let number = number.as_i32().and_then(|number| u16::try_from(number).ok());
            numbers.push(RelationNumber(number.ok_or(CORRUPT)?));
            definitions.push((name.clone(), definition.clone()));
        }
        let mut problems = Problems::default();
        let read = read_relations(&Json::Object(definitions), &Place::root(), &mut problems);
        let definitions = problems.finish(read).map_err(|_| CORRUPT)?;
        let relations = numbers.into_iter().zip(definitions).collect();
        Ok(Self { kind: kind.to_owned(), relations })
    }

    /// Returns the relations as the record of the type has them.
    pub(super) fn into_declarations(self) -> RelationDeclarations {
        let relations = self.relations.into_iter();
        relations.map(|(_, one)| (one.name.clone(), RelationDeclaration(one))).collect()
    }
}

/// Returns the column `relations` of a type.
pub(super) fn text(
    relations: &RelationDeclarations,
    numbers: &BTreeMap<String, RelationNumber>,
) -> String {
    let stored = relations
        .iter()
        .filter_map(|(name, definition)| Some((name.clone(), (numbers.get(name)?.0, definition))));
    let stored: BTreeMap<String, _> = stored.collect();
    // Texts, numbers and maps of them: there is nothing that could not be written.
    serde_json::to_string(&stored).unwrap_or_default()
}

/// Reads the relations of every type, in the order of the names of types. Types without relations are there, too.
pub async fn relations(tx: &mut Tx) -> Result<Vec<NumberedRelations>, StoreError> {
    const SQL: &str = "SELECT name, relations FROM types WHERE tenant_id = $1 ORDER BY name";
    let rows = fetch_all!(tx, (String, String), SQL, &tx.tenant)?;
    rows.iter().map(|(name, relations)| NumberedRelations::read(name, relations)).collect()
}

/// Reads the names of all relations by number.
pub(crate) async fn relation_names(
    tx: &mut Tx,
) -> Result<HashMap<RelationNumber, String>, StoreError> {
    let types = relations(tx).await?.into_iter().flat_map(|of_type| of_type.relations);
    Ok(types.map(|(number, definition)| (number, definition.name)).collect())
}

/// Returns the numbers of the relations of a type that is written: a relation keeps its number, also under a new name.
pub(super) async fn numbers(tx: &mut Tx, new: &TypeRecord) -> Result<RelationNumbers, StoreError> {
    if new.relations.is_empty() {
        return Ok(RelationNumbers::new());
    }
    let stored = relations(tx).await?;
    let old: RelationNumbers = stored
        .iter()
        .filter(|of_type| of_type.kind == new.kind)
        .flat_map(|of_type| &of_type.relations)
        .map(|(number, definition)| (definition.name.clone(), *number))
        .collect();
    let mut numbers = RelationNumbers::new();
    let mut unnumbered = Vec::new();
    for (name, declared) in &new.relations {
        let before = declared.0.renamed_from.as_ref().and_then(|before| old.get(before));
        match old.get(name).or(before) {
            Some(number) => drop(numbers.insert(name.clone(), *number)),
            None => unnumbered.push(name.clone()),
        }
    }
    if !unnumbered.is_empty() {
        let used = stored.iter().flat_map(|of_type| &of_type.relations);
        let used = used.map(|(number, _)| number.0).collect();
        let free = free(tx, unnumbered.len(), &used).await?;
        numbers.extend(unnumbered.into_iter().zip(free));
    }
    Ok(numbers)
}

/// Returns numbers that no relation has, those first that none had for the longest time, and notes them as given.
///
/// [`RelationNumber`] excludes the largest number, and rows have 0 for no relation.
async fn free(
    tx: &mut Tx,
    count: usize,
    used: &HashSet<u16>,
) -> Result<Vec<RelationNumber>, StoreError> {
    const LAST: &str = "SELECT last_relation FROM tenants WHERE id = $1";
    const NOTE: &str = "UPDATE tenants SET last_relation = $2 WHERE id = $1";
    let last = fetch_optional!(tx, (i64,), LAST, &tx.tenant)?.map_or(0, |(last,)| last);
    let last = u16::try_from(last).unwrap_or_default();
    let next = (last.saturating_add(1)..u16::MAX).chain(1..=last);
    // There are always enough: a tenant has at most 100 types with 64 relations each.
    let free: Vec<u16> = next.filter(|number| !used.contains(number)).take(count).collect();
    execute!(tx, NOTE, &tx.tenant, i64::from(free.last().copied().unwrap_or(last)))?;
    Ok(free.into_iter().map(RelationNumber).collect())
}
