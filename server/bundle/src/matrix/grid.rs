//! The cells of a resource as few lines: cells with one value on a whole axis are one line.

use std::collections::BTreeMap;

use portcullis_engine::rbac::WILDCARD;

use super::axes::Axes;

/// The value of a cell: the number of one of the values that the caller tells apart. A cell of value 0 has no line.
pub(super) type CellValue = usize;

/// The place on an axis; `None` is all of it. Sorts before the places.
type Place = Option<usize>;

/// The values of all cells of a resource.
pub(super) struct Grid<'a> {
    axes: &'a Axes<'a>,
    values: BTreeMap<[usize; 3], CellValue>,
}

/// Cells with one value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The name of each axis; `*` is all of it, and `None` everything that has no name.
    pub(super) role: Option<String>,
    pub(super) domain: Option<String>,
    pub(super) action: Option<String>,
    pub(super) value: CellValue,
}

impl<'a> Grid<'a> {
    pub(super) fn new(axes: &'a Axes<'a>) -> Self {
        Self { axes, values: BTreeMap::new() }
    }

    /// Sets the value of a cell, which is not 0.
    pub(super) fn set(&mut self, place: [usize; 3], value: CellValue) {
        self.values.insert(place, value);
    }

    /// Returns the lines of all cells, by role, domain and action.
    pub(super) fn lines(self) -> Vec<Line> {
        let axes = self.axes;
        let cells = self.values.into_iter().map(|(place, value)| (place.map(Some), value));
        let by_action = joined(cells, 2, axes.actions.len());
        let by_domain = joined(by_action.into_iter(), 1, axes.domains.len());
        // With some of the roles only, a line for all of them would say more than was asked.
        let by_role = match axes.has_all_roles {
            true => joined(by_domain.into_iter(), 0, axes.roles.len()),
            false => by_domain,
        };
        let lines = by_role.into_iter().map(|([role, domain, action], value)| Line {
            role: name(role, |place| axes.roles.get(place)?.first().cloned()),
            domain: name(domain, |place| axes.domains.get(place)?.map(str::to_owned)),
            action: name(action, |place| Some((*axes.actions.get(place)?)?.written().to_owned())),
            value,
        });
        lines.collect()
    }
}

/// Joins cells that have one value on the whole of an axis of this length.
fn joined(
    cells: impl Iterator<Item = ([Place; 3], CellValue)>,
    axis: usize,
    length: usize,
) -> BTreeMap<[Place; 3], CellValue> {
    let mut alike: BTreeMap<([Place; 3], CellValue), Vec<Place>> = BTreeMap::new();
    for (mut place, value) in cells {
        // Without it the place is the same for all cells along the axis.
        let on_axis = place.get_mut(axis).map(Option::take).unwrap_or_default();
        alike.entry((place, value)).or_default().push(on_axis);
    }
    let mut lines = BTreeMap::new();
    for ((place, value), places) in alike {
        let places = if places.len() == length { vec![None] } else { places };
        for on_axis in places {
            let mut line = place;
            if let Some(part) = line.get_mut(axis) {
                *part = on_axis;
            }
            lines.insert(line, value);
        }
    }
    lines
}

fn name(place: Place, name: impl FnOnce(usize) -> Option<String>) -> Option<String> {
    match place {
        None => Some(WILDCARD.to_owned()),
        Some(place) => name(place),
    }
}
