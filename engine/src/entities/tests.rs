//! Tests of the table of entities: every answer is that of a sorted map.

use std::collections::BTreeMap;

use portcullis_workloads::measure::kept;

use super::*;
use crate::json::{self, Json};
use crate::value::AttributeValue;

/// An entity as text: type, id, roles, roles by domain, properties.
type Written = (String, String, String, String, String);

fn written(entity_type: &str, id: &str, [roles, domains, properties]: [&str; 3]) -> Written {
    let [roles, domains, properties] = [roles, domains, properties].map(str::to_owned);
    (entity_type.to_owned(), id.to_owned(), roles, domains, properties)
}

fn tree(text: &str) -> Json<'_> {
    json::parse(text.as_bytes()).expect(text)
}

fn put(entity: &Written, use_it: impl FnOnce(&EntityInput<'_>)) {
    let (entity_type, id, roles, domains, properties) = entity;
    let [roles, domains, properties] = [roles, domains, properties].map(|text| tree(text));
    use_it(&EntityInput {
        entity_type,
        id,
        roles: roles.as_array().expect("a list"),
        domain_roles: domains.as_object().expect("an object"),
        properties: properties.as_object().expect("an object"),
    });
}

fn table<'e>(entities: impl IntoIterator<Item = &'e Written>) -> EntityTable {
    let mut builder = EntityTable::builder();
    for entity in entities {
        put(entity, |input| builder.push(input).expect("room"));
    }
    builder.finish().expect("room")
}

/// Returns all that an entity has, as text.
fn shown(entity: Entity<'_>) -> String {
    let mut properties: Vec<_> = entity.properties().iter().collect();
    properties.sort_by_key(|(name, _)| *name);
    format!(
        "{}/{} {:?} {:?} {properties:?}",
        entity.entity_type(),
        entity.id(),
        entity.roles().collect::<Vec<_>>(),
        entity.domain_roles().collect::<Vec<_>>(),
    )
}

#[test]
fn an_entity_keeps_all_that_it_has() {
    let properties = r#"{"ward": "er", "level": 3, "half": -0.5, "on": true, "none": null, "deep": {"a": 1},
        "tags": ["a", 7, "a"], "empty": []}"#;
    let roles = r#"["doctor", 7, "nurse"]"#;
    let domains = r#"{"ws-1": ["owner"], "ws-2": ["guest", "owner"], "odd": "text"}"#;
    let table = table(&[written("user", "ann", [roles, domains, properties])]);
    let ann = table.get("user", "ann").expect("ann");
    assert_eq!((ann.entity_type(), ann.id()), ("user", "ann"));
    assert_eq!(ann.roles().collect::<Vec<_>>(), ["doctor", "nurse"]);
    assert_eq!(ann.roles_in("ws-2").collect::<Vec<_>>(), ["doctor", "nurse", "guest", "owner"]);
    assert_eq!(ann.roles_in("odd").collect::<Vec<_>>(), ["doctor", "nurse"]);
    let shown = format!("{:?}", ann.properties());
    assert_eq!(
        shown,
        "{\"ward\": Text(\"er\"), \"level\": Number(3), \"half\": Number(-0.5), \"on\": Bool(true), \"deep\": Opaque, \
         \"tags\": List(Packed([Text(\"a\"), Number(7), Text(\"a\")])), \"empty\": List(Packed([]))}"
    );
    assert!(matches!(ann.properties().get("level"), Some(AttributeValue::Number(_))));
    assert!(ann.properties().get("none").is_none());
    assert!(table.get("user", "bob").is_none() && table.get("record", "ann").is_none());
}

#[test]
fn ids_come_in_order_from_a_position_on() {
    let plain = ["[]", "{}", "{}"];
    let ids = ["b", "a", "ä", "aa", "B"];
    let mut all: Vec<Written> = ids.iter().map(|id| written("t", id, plain)).collect();
    all.push(written("s", "a", plain));
    all.push(written("u", "a", plain));
    let table = table(&all);
    let ids = |after| table.for_type("t", after).map(Entity::id).collect::<Vec<_>>();
    assert_eq!(ids(None), ["B", "a", "aa", "b", "ä"]);
    assert_eq!(ids(Some("a")), ["aa", "b", "ä"]);
    assert_eq!(ids(Some("ab")), ["b", "ä"]);
    assert_eq!(ids(Some("ä")), Vec::<&str>::new());
    assert_eq!(table.for_type("x", None).count(), 0);
    assert_eq!(table.types(), ["s", "t", "u"]);
}

/// The tables after random changes, folded or not, equal a sorted map.
#[test]
fn changes_give_the_entities_of_a_map() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..40 {
        let mut model: BTreeMap<(String, String), Written> = BTreeMap::new();
        let mut table = EntityTable::default();
        for round in 0..12 {
            let mut puts = Vec::new();
            let mut removed = Vec::new();
            for _ in 0..random.usize(0..8) {
                let key = (format!("t{}", random.u8(0..3)), format!("e{}", random.u8(0..9)));
                if random.u8(0..3) == 0 {
                    model.remove(&key);
                    removed.push(key.clone());
                } else {
                    let properties =
                        format!(r#"{{"round": {round}, "l": ["x{}"]}}"#, random.u8(..));
                    let entity =
                        written(&key.0, &key.1, ["[\"r\"]", "{\"d\": [\"o\"]}", &properties]);
                    model.insert(key.clone(), entity.clone());
                    puts.push(entity);
                    removed.retain(|other| *other != key);
                }
            }
            puts.retain(|(entity_type, id, ..)| {
                model.contains_key(&(entity_type.clone(), id.clone()))
            });
            let gone =
                removed.iter().map(|(entity_type, id)| EntityChange::Remove { entity_type, id });
            table = table.changed(gone).expect("room");
            for entity in &puts {
                put(entity, |input| {
                    table = table.changed([EntityChange::Put(*input)]).expect("room")
                });
            }
            if random.u8(0..4) == 0 {
                table = table.folded().expect("room");
            }
            let expected = self::table(model.values());
            let all = |table: &EntityTable| -> Vec<String> {
                let types = ["t0", "t1", "t2"].into_iter();
                types
                    .flat_map(|of| table.for_type(of, None).map(shown).collect::<Vec<_>>())
                    .collect()
            };
            assert_eq!(all(&table), all(&expected));
            for (entity_type, id) in
                (0..3).flat_map(|t| (0..9).map(move |e| (format!("t{t}"), format!("e{e}"))))
            {
                let found = table.get(&entity_type, &id).map(shown);
                assert_eq!(found, expected.get(&entity_type, &id).map(shown));
            }
        }
    }
}

#[test]
fn the_last_of_equal_entities_counts() {
    let [old, new] =
        [r#"{"v": 1}"#, r#"{"v": 2}"#].map(|text| written("t", "a", ["[]", "{}", text]));
    let table = table(&[old, new]);
    assert_eq!(table.for_type("t", None).count(), 1);
    assert!(shown(table.get("t", "a").expect("a")).contains("Number(2)"));
}

#[test]
fn a_large_overlay_asks_to_be_folded() {
    let plain = ["[]", "{}", "{}"];
    let all: Vec<Written> = (0..1100).map(|n| written("t", &n.to_string(), plain)).collect();
    let base = table(&all);
    assert!(!base.should_fold());
    let removals = |count: usize| {
        all[..count].iter().map(|(entity_type, id, ..)| EntityChange::Remove { entity_type, id })
    };
    assert!(!base.changed(removals(1000)).expect("room").should_fold());
    let changed = base.changed(removals(1060)).expect("room");
    assert!(changed.should_fold());
    let folded = changed.folded().expect("room");
    assert!(!folded.should_fold() && folded.weight() < changed.weight());
}

/// An entity takes at most 300 bytes beside its properties, and the weight is what is allocated.
#[test]
fn an_entity_is_small() {
    const COUNT: usize = 20_000;
    const MAX_BYTES: usize = 300;
    let entity = |n: usize| {
        let roles = format!(r#"["role-{}", "role-{}"]"#, n % 50, n % 7);
        let domains = format!(r#"{{"ws-{}": ["owner"]}}"#, n % 1000);
        written("user", &format!("user-{n:012}"), [&roles, &domains, "{}"])
    };
    let mut weight = 0;
    let measured = kept(|| {
        let mut builder = EntityTable::builder();
        for n in 0..COUNT {
            put(&entity(n), |input| builder.push(input).expect("room"));
        }
        let table = builder.finish().expect("room");
        weight = table.weight();
        table
    });
    let measured = usize::try_from(measured).expect("it grows");
    println!("{} bytes for each entity, weight {}", measured / COUNT, weight / COUNT);
    assert!(measured / COUNT <= MAX_BYTES, "{} bytes", measured / COUNT);
    assert!(weight.abs_diff(measured) <= measured / 20, "{weight} instead of {measured}");
}
