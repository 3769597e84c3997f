//! The resolvers of a tenant folder, called as the service calls them, with canned responses for the network.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use futures_util::future::FutureExt as _;
use portcullis_bundle::{
    Bundle, CannedResponses, Case, DESCRIPTOR_FILE, FolderQuestion, SampleResolver, look_up,
};
use portcullis_config::Variables;
use portcullis_engine::{
    AttributeAnswer, AttributeAnswers, AttributeRequest, Check, Decision, Invalid, Judged,
};
use portcullis_model::resolver::Manifest;
use portcullis_resolver_host::{
    BoundResolver, CallError, CallOutcome, Endpoints, Grant, HttpRequest, Module, ResolverHost,
    SendError, Sending, WantedAttributes,
};
use portcullis_resolvers::{json, module_record};

use super::error::TestError;
use crate::resolver_cli::project::Project;
use crate::resolver_cli::responses::scripted;
use crate::resolver_cli::{build, guest};

/// The number of calls after which a resolver that times out counts as too slow. The limit is wall time, so that a busy
/// machine can delay one call.
const ATTEMPTS: usize = 3;

/// The resolvers of a tenant folder.
pub(super) struct FolderResolvers {
    resolvers: Vec<CallableResolver>,
}

/// A component with its manifest, which fits.
struct CallableResolver {
    host: Arc<ResolverHost>,
    module: Arc<Module>,
    manifest: Manifest,
    responses: CannedResponses,
}

impl FolderResolvers {
    /// Loads the components of the tenant in `folder`, builds those that are missing, and verifies that they fit their
    /// manifests as the service does.
    ///
    /// # Errors
    /// The first resolver that cannot be called.
    pub(super) async fn open(
        folder: &Path,
        bundle: &Bundle,
        variables: &Variables,
    ) -> Result<Self, TestError> {
        // A host starts an engine for modules, which most folders do not need.
        if bundle.resolvers.is_empty() {
            return Ok(Self { resolvers: Vec::new() });
        }
        let host = guest::host(None).map_err(TestError::Host)?;
        let mut all = Vec::with_capacity(bundle.resolvers.len());
        for resolver in &bundle.resolvers {
            let folder = folder.join(&resolver.folder);
            let opened = CallableResolver::open(&host, &folder, resolver, variables).await;
            all.push(opened.map_err(|error| TestError::Resolver {
                folder: folder.display().to_string(),
                namespace: resolver.manifest.namespace.clone(),
                error,
            })?);
        }
        Ok(Self { resolvers: all })
    }

    /// Decides the question of `case` as the service would: relations by the tuples, other attributes by its `resolved`, or
    /// else by calls.
    ///
    /// # Errors
    /// The relations do not allow a tuple of the case.
    pub(super) async fn decide<'q>(
        &self,
        bundle: &Bundle,
        question: &mut FolderQuestion<'q>,
        case: &Case,
    ) -> Result<Decision<'q>, Invalid> {
        let requests = match question.judge()? {
            Judged::Decided(decision) => return Ok(decision),
            Judged::NeedsRelations(requests) | Judged::NeedsAnswers(requests) => requests,
        };
        let inputs: Vec<_> = self.resolvers.iter().flat_map(CallableResolver::relations).collect();
        // A resolver may read relations that no policy reads.
        look_up(question, &inputs)?;
        let mut answers = AttributeAnswers::default();
        for request in requests {
            let found =
                self.answer(&bundle.tenant, &question.for_resolvers(), case, &request).await;
            // Answers come in the order of the attributes, and there is one for each of them.
            for (name, answer) in request.attributes.iter().zip(found) {
                answers.insert(&request.namespace, name, answer);
            }
        }
        question.add(answers);
        Ok(question.settle())
    }

    /// Returns the answers to one request, in the order of its attributes.
    async fn answer(
        &self,
        tenant: &str,
        check: &Check<'_>,
        case: &Case,
        request: &AttributeRequest,
    ) -> Vec<AttributeAnswer> {
        let AttributeRequest { namespace, attributes, .. } = request;
        if case.resolved.namespaces.contains(&**namespace) {
            // An attribute without a given answer is not called for either: the case stands for the whole resolver.
            return attributes.iter().map(|name| case.resolved.answer(namespace, name)).collect();
        }
        let mut all = self.resolvers.iter();
        let Some(resolver) = all.find(|one| *one.manifest.namespace == **namespace) else {
            let cause = format!("there is no resolver `{namespace}`");
            return attributes.iter().map(|_| failed(&cause)).collect();
        };
        let own = case.responses.get(&**namespace);
        let responses = own.map_or_else(
            || resolver.responses.clone(),
            // The responses of a case go first, and those of the folder answer what the case leaves out.
            |responses| responses.or(&resolver.responses),
        );
        match resolver.call(tenant, check, attributes, responses).await {
            Ok(answers) => answers,
            Err(cause) => {
                let cause = format!("resolver `{namespace}`: {cause}");
                attributes.iter().map(|_| failed(&cause)).collect()
            }
        }
    }
}

impl CallableResolver {
    async fn open(
        host: &Arc<ResolverHost>,
        folder: &Path,
        resolver: &SampleResolver,
        variables: &Variables,
    ) -> anyhow::Result<Self> {
        let component = component(folder, variables)?;
        let module = host.load(component.bytes()?, "").await;
        let module = module.with_context(|| component.component.display().to_string())?;
        ensure!(
            module_record(&module).attributes == resolver.attributes,
            "`{DESCRIPTOR_FILE}` declares other attributes than the component; write it with \
             `portcullis resolver inspect --json {} > {}`",
            component.component.display(),
            folder.join(DESCRIPTOR_FILE).display()
        );
        let opened = Self {
            host: Arc::clone(host),
            module: Arc::new(module),
            manifest: resolver.manifest.clone(),
            responses: resolver.responses.clone(),
        };
        // A manifest that does not fit is a fault of the folder, not of the first case that calls it.
        opened.bind(CannedResponses::default())?;
        Ok(opened)
    }

    /// Returns the relations that the component names as inputs.
    fn relations(&self) -> impl Iterator<Item = Box<str>> {
        let inputs = self.module.descriptor.inputs.iter();
        let named = inputs.filter_map(|input| input.strip_prefix("relation."));
        // The input `*` names no relation that could be looked up.
        named.filter(|name| *name != "*").map(Box::from)
    }

    /// Verifies that the manifest fits the module, as the service does, and binds them.
    fn bind(&self, responses: CannedResponses) -> anyhow::Result<BoundResolver> {
        // The host refuses a module whose endpoints are unknown, so all names are there even without responses.
        let names = self.manifest.every_endpoint().into_keys().collect();
        let endpoints = scripted(responses, Arc::new(Offline(names)));
        let grant = Grant { config: self.manifest.config.clone(), endpoints };
        Ok(self.host.bind(self.module.clone(), grant, self.manifest.limits, "")?)
    }

    /// Calls the component for `wanted`, and returns the answers in this order, or the cause of the failure.
    async fn call(
        &self,
        tenant: &str,
        check: &Check<'_>,
        wanted: &[Box<str>],
        responses: CannedResponses,
    ) -> Result<Vec<AttributeAnswer>, String> {
        let bound = self.bind(responses).map_err(|error| error.to_string())?;
        let outcome = self.resolve(&bound, tenant, check, wanted).await;
        let answers = outcome.result.map_err(|error| error.to_string())?;
        let in_order = wanted.iter().map(|name| {
            // An answer without a value is an absent attribute, and no answer at all is a failure.
            let Some(found) = answers.iter().find(|answer| *answer.name == **name) else {
                return failed("not answered");
            };
            let value = found.value.clone().map(json);
            value.map_or(AttributeAnswer::Absent, AttributeAnswer::Value)
        });
        Ok(in_order.collect())
    }

    /// Calls the component, again if it took too long.
    async fn resolve(
        &self,
        bound: &BoundResolver,
        tenant: &str,
        check: &Check<'_>,
        wanted: &[Box<str>],
    ) -> CallOutcome {
        let budget = self.manifest.limits.timeout;
        let wanted = WantedAttributes { tenant, check, names: wanted };
        let mut attempts = 1;
        loop {
            let outcome = self.host.resolve(bound, self.module.request(wanted, budget)).await;
            // Only faults that a busy machine explains are tried again, so that a test run does not fail by chance.
            let is_slow =
                matches!(outcome.result, Err(CallError::TimedOut(_) | CallError::Busy(_)));
            if !is_slow || attempts == ATTEMPTS {
                return outcome;
            }
            attempts += 1;
        }
    }
}

/// Returns the one component in `folder`. Builds it if it is missing and the folder is a crate.
fn component(folder: &Path, variables: &Variables) -> anyhow::Result<Project> {
    // A component that is there goes first, since building one takes long.
    if !Project::components(folder)?.is_empty() {
        return Project::find(folder);
    }
    if folder.join("Cargo.toml").is_file() {
        let component = build::component(folder, None, variables)?;
        return Ok(Project { component });
    }
    bail!(
        "there is no component (`*.wasm`), and no `Cargo.toml` to build it from; build it into this folder, then run \
         `portcullis resolver inspect --json {0} > {0}/{DESCRIPTOR_FILE}`",
        folder.display()
    )
}

fn failed(cause: &str) -> AttributeAnswer {
    AttributeAnswer::Failed(cause.into())
}

/// Endpoints of these names, to which no request is sent.
struct Offline(Vec<String>);

impl Endpoints for Offline {
    fn has(&self, endpoint: &str) -> bool {
        self.0.iter().any(|known| known == endpoint)
    }

    fn send<'a>(&'a self, endpoint: &'a str, _: HttpRequest, _: usize) -> Sending<'a> {
        let what = format!("`responses` has no response of the endpoint `{endpoint}`");
        async { Err(SendError::Refused(what)) }.boxed()
    }
}
