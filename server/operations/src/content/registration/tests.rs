//! Registrations on every database.

use portcullis_engine::json;
use portcullis_model::ids::Ids;
use portcullis_model::resource::Registration;
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::resources;
use portcullis_storage::testing::{TestDatabase, on_every_database};

use super::register;

on_every_database!(a_registration_comes_back_as_it_went_in);

async fn a_registration_comes_back_as_it_went_in(database: TestDatabase) {
    let store = database.open().await;
    let body =
        r#"{"name": "doc:read", "displayName": "Dokument \"lesen\"", "defaultRoles": ["a", "ö"]}"#;
    let body = json::parse(body.as_bytes()).expect("JSON");
    let registration = Registration::parse(&body).expect("valid");
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
    let mut tx = store.write("acme", 0).await.expect("begins");
    let (record, created) =
        register(&mut tx, registration.clone(), "acme", &by, &Ids::new()).await.expect("works");
    tx.commit().await.expect("commits");
    assert!(created);
    let mut tx = store.begin_read("acme").await.expect("begins");
    let found = resources::find(&mut tx, record.id).await.expect("works").expect("there");
    assert_eq!(found.registration, registration);
    assert_eq!((found.created_at.millis(), found.updated_at), (1_000, None));
}
