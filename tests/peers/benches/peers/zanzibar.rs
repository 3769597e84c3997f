//! A drive in the crate simple-zanzibar, whose relations mean what ours do.

use anyhow::{Context as _, Result};
use portcullis_directory::Tuple;
use simple_zanzibar::ZanzibarEngine;
use simple_zanzibar::model::{Object, Relation, User};
use simple_zanzibar::relationship::RelationshipMutation;

use crate::drive::Tuples;

const SCHEMA: &str = r#"
    namespace user {}
    namespace group { relation member {} }
    namespace folder {
        relation parent {}
        relation owner {}
        relation viewer {
            rewrite union(this, computed_userset(relation: "owner"),
                tuple_to_userset(tupleset: "parent", computed_userset: "viewer"))
        }
    }
    namespace document {
        relation parent {}
        relation editor {
            rewrite union(this, tuple_to_userset(tupleset: "parent", computed_userset: "owner"))
        }
        relation viewer {
            rewrite union(this, computed_userset(relation: "editor"),
                tuple_to_userset(tupleset: "parent", computed_userset: "viewer"))
        }
    }
"#;

pub(crate) struct Zanzibar {
    engine: ZanzibarEngine,
    viewer: Relation,
}

impl Zanzibar {
    pub(crate) fn load(tuples: &Tuples) -> Result<Self> {
        let engine = ZanzibarEngine::builder().build();
        engine.add_dsl(SCHEMA)?;
        let name = |number| {
            let relation = tuples.schema.by_number(number).context("a relation of the drive")?;
            anyhow::Ok(tuples.schema.name(relation))
        };
        let touch = |Tuple { object, relation, subject, subject_relation, .. }: Tuple<'_>| {
            let mut text = format!(
                "{}:{}#{}@{}:{}",
                object.object_type,
                object.id,
                name(relation)?,
                subject.object_type,
                subject.id
            );
            match subject_relation {
                Some(related) => text.extend(["#", name(related)?]),
                // It takes the object alone, but of a set alone.
                None if subject.object_type == "folder" => text.push_str("#viewer"),
                None => {}
            }
            anyhow::Ok(RelationshipMutation::touch(text)?)
        };
        let all = tuples.tuples().map(touch).collect::<Result<Vec<_>>>()?;
        engine.write_relationships(all)?;
        Ok(Self { engine, viewer: Relation("viewer".to_owned()) })
    }

    pub(crate) fn allows(&self, user: &str, document: &str) -> Result<bool> {
        let document = Object { namespace: "document".to_owned(), id: document.to_owned() };
        let user = User::UserId(user.to_owned());
        Ok(self.engine.check_relation(&document, &self.viewer, &user)?)
    }
}
