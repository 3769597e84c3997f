//! Enums whose variants have names on the wire. `strum` derives their parts.

use std::str::FromStr;

use strum::VariantArray;

use crate::invalid::{Place, Problems};
use crate::json::Json;
use crate::nearest::any_of;

/// An enum whose variants have names on the wire.
pub trait Named: VariantArray + FromStr + Into<&'static str> + Copy {}

impl<T: VariantArray + FromStr + Into<&'static str> + Copy> Named for T {}

/// Returns the names of all variants.
pub fn names<T: Named>() -> impl Iterator<Item = &'static str> + Clone {
    T::VARIANTS.iter().map(|variant| (*variant).into())
}

/// Reads the name of a variant.
pub fn named<T: Named>(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<T> {
    let variant = json.as_str().and_then(|name| name.parse().ok());
    if variant.is_none() {
        problems.expected(at, any_of(names::<T>()));
    }
    variant
}
