//! The values of the members of a record, in one pass over its text.

use std::mem;

use portcullis_engine::Json;
use portcullis_engine::json::Member;
use portcullis_model::decision::{MEMBERS, member};

/// The values of the members of a record; `null` for one that it does not have.
pub(crate) struct RecordValues<'r>([Json<'r>; MEMBERS.len()]);

/// Returns the places of the members with these names.
pub(crate) const fn places<const N: usize>(names: [&str; N]) -> [usize; N] {
    let (mut places, mut place) = ([0; N], 0);
    while place < N {
        places[place] = member(names[place]);
        place += 1;
    }
    places
}

impl<'r> RecordValues<'r> {
    pub(crate) fn new(members: Vec<Member<'r>>) -> Self {
        let mut values = [const { Json::Null }; MEMBERS.len()];
        // Members come in the order of the rows, and each may be absent.
        let mut next = 0;
        for (name, value) in members {
            let mut places = (next..MEMBERS.len()).chain(0..next);
            if let Some(place) = places.find(|place| MEMBERS[*place].name == name) {
                values[place] = value;
                next = place + 1;
            }
        }
        Self(values)
    }

    /// Takes the values at these places.
    pub(crate) fn take<const N: usize>(&mut self, places: [usize; N]) -> [Json<'r>; N] {
        places.map(|place| {
            self.0.get_mut(place).map_or(Json::Null, |value| mem::replace(value, Json::Null))
        })
    }
}
