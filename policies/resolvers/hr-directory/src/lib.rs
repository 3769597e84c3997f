//! `hr.department`, `hr.manager`, `hr.clearance` and `hr.groups` of the subject, asked of a directory over HTTP.
//!
//! The endpoint `directory` answers `GET people/<subject>` with such an object, or 404 for somebody whom it does not
//! know:
//!
//! ```json
//! {"department": "engineering", "manager": "dr-osei", "clearance": 3, "groups": ["on-call"]}
//! ```

use portcullis_guest_sdk::{
    Attribute, AttributeSpec, Descriptor, Error, Host, HttpRequest, Kind, Level, Request,
    Resolution, Resolver, Value, export_resolver, path_segment,
};

/// The time for which an answer of the directory is used: somebody who changes departments is known within five minutes.
const TTL_MS: u32 = 300_000;

/// The entry of a person in the directory. A member that is absent or null is a property that the person does not have.
#[derive(Default, serde::Deserialize)]
struct Person {
    department: Option<String>,
    manager: Option<String>,
    clearance: Option<f64>,
    groups: Option<Vec<String>>,
}

/// The resolver.
pub struct HrDirectory;

impl Resolver for HrDirectory {
    fn describe() -> Descriptor {
        Descriptor {
            inputs: vec!["subject".to_owned()],
            attributes: vec![
                AttributeSpec::new("department", Kind::Text, TTL_MS),
                AttributeSpec::new("manager", Kind::Text, TTL_MS),
                AttributeSpec::new("clearance", Kind::Number, TTL_MS),
                AttributeSpec::new("groups", Kind::Texts, TTL_MS),
            ],
            endpoints: vec!["directory".to_owned()],
            ..Descriptor::new("hr-directory", "1.0.0")
        }
    }

    fn resolve(request: &Request, host: &impl Host) -> Result<Resolution, Error> {
        let path = format!("people/{}", path_segment(&request.subject)?);
        let response = host.send("directory", &HttpRequest::get(path))?;
        let person = if response.status == 404 {
            host.log(Level::Info, "the directory does not know the subject");
            Person::default()
        } else {
            let body = response.success()?.body;
            serde_json::from_slice(&body)
                .map_err(|error| Error::Internal(format!("the directory's answer: {error}")))?
        };
        let mut resolution = Resolution::new(vec![], vec![]);
        for name in &request.wanted {
            match person.value(name) {
                Some(value) => resolution.attributes.push(Attribute::new(name, value)),
                None => resolution.absent.push(name.clone()),
            }
        }
        Ok(resolution)
    }
}

export_resolver!(HrDirectory);

impl Person {
    fn value(&self, attribute: &str) -> Option<Value> {
        match attribute {
            "department" => self.department.clone().map(Value::Text),
            "manager" => self.manager.clone().map(Value::Text),
            "clearance" => self.clearance.map(Value::Number),
            _ => self.groups.clone().map(Value::Texts),
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_guest_sdk::testing::{MockHost, request};
    use portcullis_guest_sdk::{FailureKind, HttpResponse};

    use super::*;

    const ALL: [&str; 4] = ["department", "manager", "clearance", "groups"];

    fn resolve(
        subject: &'static str,
        status: u16,
        body: &'static str,
    ) -> Result<Resolution, Error> {
        let host = MockHost::new().endpoint("directory", move |request| {
            assert_eq!(request.path, format!("people/{subject}"));
            Ok(HttpResponse { status, headers: vec![], body: body.into() })
        });
        HrDirectory::resolve(&Request { subject: subject.to_owned(), ..request(&ALL) }, &host)
    }

    #[test]
    fn what_the_directory_knows_is_answered_and_the_rest_is_absent() {
        let person = r#"{"department": "sales", "clearance": 3, "groups": ["a", "b"], "manager": null, "desk": 7}"#;
        let answer = resolve("ann", 200, person).unwrap();
        let values: Vec<_> =
            answer.attributes.into_iter().map(|one| (one.name, one.value)).collect();
        let groups = Value::Texts(vec!["a".to_owned(), "b".to_owned()]);
        let expected = [
            ("department", Value::Text("sales".to_owned())),
            ("clearance", Value::Number(3.0)),
            ("groups", groups),
        ];
        assert_eq!(values, expected.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(answer.absent, ["manager"]);
    }

    #[test]
    fn somebody_unknown_has_no_attributes() {
        let answer = resolve("nobody", 404, "not found").unwrap();
        assert_eq!((answer.attributes, answer.absent), (vec![], ALL.map(str::to_owned).into()));
    }

    #[test]
    fn a_directory_that_fails_is_no_answer() {
        let Err(Error::Unavailable(failure)) = resolve("ann", 503, "") else {
            panic!("503 is a failure")
        };
        assert_eq!(failure.kind, FailureKind::Status);
        for body in ["", "[]", r#"{"department": 7}"#, r#"{"clearance": "3"}"#] {
            assert!(matches!(resolve("ann", 200, body), Err(Error::Internal(_))), "{body}");
        }
    }

    #[test]
    fn a_subject_is_one_segment_of_the_path() {
        let host = MockHost::new().endpoint("directory", |request| {
            assert_eq!(request.path, "people/..%2Fadmin");
            Ok(HttpResponse { status: 404, headers: vec![], body: vec![] })
        });
        let subject = "../admin".to_owned();
        assert!(HrDirectory::resolve(&Request { subject, ..request(&ALL) }, &host).is_ok());
    }
}
