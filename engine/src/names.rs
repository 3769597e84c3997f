//! Enums whose variants have names on the wire. `strum` derives their parts.

use std::str::FromStr;

use strum::VariantArray;

use crate::invalid::{Place, Problems};
use crate::json::Json;
use crate::nearest::any_of;
use crate::source::{Source, Tree};

/// An enum whose variants have names on the wire.
pub trait Variants: VariantArray + FromStr + Into<&'static str> + Copy {}

impl<T: VariantArray + FromStr + Into<&'static str> + Copy> Variants for T {}

/// Returns the names of all variants.
pub fn names<T: Variants>() -> impl Iterator<Item = &'static str> + Clone {
    T::VARIANTS.iter().map(|variant| (*variant).into())
}

/// Reads the name of a variant.
pub fn named<T: Variants>(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<T> {
    read_name(&mut Tree::new(json, problems), at)
}

/// Reads the name of a variant.
pub fn read_name<'j, T: Variants>(source: &mut impl Source<'j>, at: &Place<'_>) -> Option<T> {
    let name = source.scalar();
    let variant = name.as_ref().and_then(Json::as_str).and_then(|name| name.parse().ok());
    if variant.is_none() {
        return source.fault(|problems| problems.expected(at, any_of(names::<T>())));
    }
    variant
}
