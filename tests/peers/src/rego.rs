//! regorus: one small program over data that is indexed by hand, so that a decision reads only relevant data.

use std::sync::Arc;

use anyhow::{Context, Result};
use portcullis_workloads::plain_request::{PlainRequest, PlainScalar};
use portcullis_workloads::{SampleRule, Workload};
use regorus::Value;
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::RegoVM;
use serde_json::json;

use crate::Peer;

const ENTRY: &str = "data.authz.allow";

/// The allow rules, by resource, action and role.
const RULES: &str = "package authz
default allow := false
allow if {
    some role in data.roles[input.subject]
    data.rules[input.resource][input.action][role]
}";

/// The allow policies, by resource and department.
const POLICIES: &str = "package authz
default allow := false
allow if {
    some policy in data.policies[input.resource][input.department]
    input.clearance >= policy.clearance
    policy.regions[input.region]
}";

/// Rules and policies, with denials. The policies of a department are sorted; the first that holds decides.
const BOTH: &str = "package authz
default allow := false
first := [policy.allow |
    some policy in data.policies[input.resource][input.department]
    input.clearance >= policy.clearance
    policy.regions[input.region]
][0]
by_rules contains effect if {
    some role in data.roles[input.subject]
    effect := data.rules[input.resource][input.action][role]
}
denied if first == false
denied if false in by_rules
granted if first
granted if true in by_rules
allow if {
    granted
    not denied
}";

/// The engine, run by `R`.
pub struct Rego<R> {
    runner: R,
    /// The data, kept besides the runner's reference, so that a change copies only its path.
    data: Value,
}

/// A way to run a program.
pub trait Runner: Sized {
    /// Prepares `program` to run on `data`.
    ///
    /// # Errors
    /// The error of regorus.
    fn new(program: &str, data: Value) -> Result<Self>;

    /// Runs the program on `input`.
    ///
    /// # Errors
    /// The error of regorus.
    fn run(&mut self, input: Value) -> Result<Value>;

    /// Replaces the data.
    ///
    /// # Errors
    /// The error of regorus.
    fn set_data(&mut self, data: Value) -> Result<()>;
}

/// Runs a program by the interpreter.
pub struct Interpreted(regorus::Engine);

impl Runner for Interpreted {
    fn new(program: &str, data: Value) -> Result<Self> {
        let mut engine = regorus::Engine::new();
        engine.add_policy("authz.rego".to_owned(), program.to_owned())?;
        engine.add_data(data)?;
        Ok(Self(engine))
    }

    fn run(&mut self, input: Value) -> Result<Value> {
        self.0.set_input(input);
        self.0.eval_rule(ENTRY.to_owned())
    }

    fn set_data(&mut self, data: Value) -> Result<()> {
        self.0.clear_data();
        self.0.add_data(data)
    }
}

/// Runs a program by the register machine.
pub struct Machine(RegoVM);

impl Runner for Machine {
    fn new(program: &str, data: Value) -> Result<Self> {
        let Interpreted(mut engine) = Interpreted::new(program, data.clone())?;
        let policy = engine.compile_with_entrypoint(&Arc::from(ENTRY))?;
        let mut machine = RegoVM::new();
        machine.load_program(Compiler::compile_from_policy(&policy, &[ENTRY])?);
        machine.set_data(data)?;
        Ok(Self(machine))
    }

    fn run(&mut self, input: Value) -> Result<Value> {
        self.0.set_input(input);
        Ok(self.0.execute_entry_point_by_index(0)?)
    }

    fn set_data(&mut self, data: Value) -> Result<()> {
        Ok(self.0.set_data(data)?)
    }
}

impl<R: Runner> Rego<R> {
    /// Loads the rules and policies of `workload`.
    ///
    /// # Errors
    /// The error of regorus.
    pub fn load(workload: &Workload) -> Result<Self> {
        let program = match (workload.rules.is_empty(), workload.policies.is_empty()) {
            (false, true) => RULES,
            (true, false) => POLICIES,
            _ => BOTH,
        };
        let data: Value = indexed(workload).into();
        Ok(Self { runner: R::new(program, data.clone())?, data })
    }
}

impl<R: Runner> Peer for Rego<R> {
    fn allows(&mut self, request: &PlainRequest<'_>) -> Result<bool> {
        let mut input = Value::new_object();
        let fields = input.as_object_mut()?;
        for (name, value) in [
            ("subject", request.subject),
            ("resource", request.resource),
            ("action", request.action),
        ] {
            fields.insert(name.into(), value.into());
        }
        for (name, value) in request.attributes.user.0.iter().chain(&request.attributes.resource.0)
        {
            let value: Value = match value {
                PlainScalar::Text(text) => (*text).into(),
                PlainScalar::Number(number) => (*number).into(),
                PlainScalar::Texts(_) => continue,
            };
            fields.insert((*name).into(), value);
        }
        Ok(*self.runner.run(input)?.as_bool()?)
    }

    fn change(&mut self, rule: &SampleRule, present: bool) -> Result<()> {
        let mut node = &mut self.data;
        for key in ["rules", &rule.obj, &rule.act] {
            node = node.as_object_mut()?.get_mut(&key.into()).context("nothing to change")?;
        }
        let roles = node.as_object_mut()?;
        if present {
            roles.insert(rule.sub.as_str().into(), rule.allow.into());
        } else {
            roles.remove(&rule.sub.as_str().into());
        }
        self.runner.set_data(self.data.clone())
    }
}

/// Makes the data document.
fn indexed(workload: &Workload) -> serde_json::Value {
    let mut data = json!({"roles": {}, "rules": {}, "policies": {}});
    for request in &workload.requests {
        data["roles"][&request.subject] = json!(request.roles);
    }
    for rule in &workload.rules {
        data["rules"][&rule.obj][&rule.act][&rule.sub] = json!(rule.allow);
    }
    let mut policies: Vec<_> = workload.policies.iter().collect();
    policies.sort_by_key(|policy| (std::cmp::Reverse(policy.priority), policy.allow, policy.id));
    for policy in policies {
        let conditions = &policy.conditions;
        let regions = conditions.regions.iter().map(|region| (region.clone(), json!(true)));
        let regions: serde_json::Map<_, _> = regions.collect();
        let list = &mut data["policies"][&policy.resource][&conditions.department];
        if list.is_null() {
            *list = json!([]);
        }
        if let Some(list) = list.as_array_mut() {
            let clearance = conditions.clearance;
            list.push(json!({"clearance": clearance, "regions": regions, "allow": policy.allow}));
        }
    }
    data
}
