//! Resolvers for tests: the components of `tests/guests`, and the forms that bring them.

use serde_json::{Value, json};

use super::{Reply, Request, Tenant};

pub(crate) const RESOLVERS: &str = "/api/v1/resolvers";

/// The component `tests/guests/components/examples/<name>.rs`.
pub(crate) fn guest(name: &str) -> Vec<u8> {
    portcullis_test_guests::component(name).expect("it builds")
}

/// A body of `multipart/form-data`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form(Vec<u8>);

impl Form {
    const BOUNDARY: &str = "------------------------e4b8a2f1c0d97365";

    /// The parts of a new resolver.
    pub(crate) fn new(manifest: &Value, module: &[u8]) -> Self {
        Self::default().part("manifest", manifest.to_string()).part("module", module)
    }

    pub(crate) fn part(mut self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let head = format!(
            "--{}\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"{name}\"\r\n\r\n",
            Self::BOUNDARY
        );
        self.0.extend([head.as_bytes(), content.as_ref(), b"\r\n"].concat());
        self
    }

    pub(crate) fn on(&self, request: Request) -> Request {
        let body = [&self.0, format!("--{}--\r\n", Self::BOUNDARY).as_bytes()].concat();
        request.body(&format!("multipart/form-data; boundary={}", Self::BOUNDARY), body)
    }
}

/// A manifest for `guest("directory")`.
pub(crate) fn directory(namespace: &str) -> Value {
    json!({"namespace": namespace, "config": {"department": "obstetrics"}})
}

impl Tenant<'_> {
    /// Sends a form as `boss`.
    pub(crate) fn upload(&self, route: impl Into<String>, form: &Form) -> Reply {
        self.send(&form.on(self.managing(route)))
    }

    /// Creates a resolver of `guest("directory")`, and gives its id.
    #[track_caller]
    pub(crate) fn directory(&self, namespace: &str) -> String {
        let form = Form::new(&directory(namespace), &guest("directory"));
        self.upload(format!("POST {RESOLVERS}"), &form).is(201).id()
    }
}
