//! Proposals of a tenant. They need a gate, which must be open for all other records.

use serde_json::{Value, json};

use super::Party;
use crate::support::{MANAGER, Request};

impl Party<'_> {
    /// Closes or opens the gate `approval`, unless it is so already.
    pub(super) fn set_gate(&self, is_closed: bool) {
        if self.is_gated.replace(is_closed) == is_closed {
            return;
        }
        let settings = json!({"settings": {"gates": {"approval": is_closed}}});
        let reply = self.apply("zoe", "settings", &settings);
        if reply["applied"] == json!(true) {
            return;
        }
        let id = reply["proposal"]["id"].as_str().expect("an id");
        self.tenant
            .send(&self.tenant.managing(format!("POST /api/v1/proposals/{id}/approve")))
            .is(200);
    }

    /// Makes a proposal that is not of `boss`, and gives its id.
    pub(super) fn proposal(&self, n: usize) -> String {
        let rule = json!({"sub": format!("record-{n}"), "obj": "doc:read", "act": "read", "effect": "allow"});
        let reply = self.apply("zoe", &format!("owner-{n}"), &json!({"rules": [rule]}));
        reply["proposal"]["id"].as_str().expect("an id").to_owned()
    }

    /// Applies a bundle as the manager `who`, and gives the answer.
    fn apply(&self, who: &str, owner: &str, bundle: &Value) -> Value {
        let body = json!({"owner": owner, "bundle": bundle});
        let token = self.tenant.token(who, &[MANAGER]);
        let request = Request::new("POST /api/v1/apply").token(&token).json(&body);
        let reply = request.send(self.tenant.address);
        assert!(matches!(reply.status, 200 | 202), "{}", reply.text);
        reply.json()
    }
}
