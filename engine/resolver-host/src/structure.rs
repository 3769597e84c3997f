//! The structure of a component, judged before anything compiles it.
//!
//! A compiler can take time and memory far beyond the size of its input: a function with many locals and many branches
//! costs their product. The pass over the bytes here is linear and keeps little. It refuses, by name, what no resolver
//! needs. The limits of the compiler's process (`compiler.rs`) bound whatever else a component costs.

mod limits;

use std::fmt::{self, Display};

use wasmparser::{
    CompositeInnerType, Encoding, FunctionBody, ImportSectionReader, Operator, Parser, Payload,
    TypeRef, TypeSectionReader,
};

use crate::error::LoadError;
use crate::imports::is_offered;
use crate::log::cut;
pub use limits::StructureLimits;

/// The interface that a resolver exports, without its version, which the linker compares.
const EXPORT: &str = "portcullis:resolver/resolver";
/// The maximum number of refused imports that an error names. The standard library of Rust has nine for files.
const NAMED_IMPORTS: usize = 32;

/// Judges the structure of a component.
///
/// # Errors
/// The bytes cannot be read as a component, a limit is exceeded, an import is not offered, or the export of a resolver
/// is missing.
pub(crate) fn judge(bytes: &[u8], limits: &StructureLimits) -> Result<(), LoadError> {
    let mut judge = Judge::new(limits);
    for payload in Parser::new(0).parse_all(bytes) {
        judge.payload(payload.map_err(malformed)?)?;
    }
    if !judge.refused.is_empty() {
        return Err(LoadError::Imports(judge.refused));
    }
    if !judge.is_resolver {
        return Err(LoadError::Contract(format!("it does not export `{EXPORT}@1.0.0`")));
    }
    Ok(())
}

/// The counts of the part of a component that was read so far.
struct Judge<'l> {
    limits: &'l StructureLimits,
    /// The components and the module that are open.
    depth: u64,
    components: u64,
    modules: u64,
    types: u64,
    declarations: u64,
    functions: u64,
    locals: u64,
    module: CoreModule,
    refused: Vec<String>,
    is_resolver: bool,
}

/// The core module that is being read.
#[derive(Default)]
struct CoreModule {
    /// The position of the module in the component, from 0.
    index: u64,
    /// The number of parameters of each type; 0 for a type that is not a function.
    parameters: Vec<u64>,
    imported_functions: u64,
    /// The type of each function with a body.
    functions: Vec<u32>,
    /// The number of bodies that were read.
    bodies: usize,
}

impl<'l> Judge<'l> {
    fn new(limits: &'l StructureLimits) -> Self {
        Self {
            limits,
            depth: 0,
            components: 0,
            modules: 0,
            types: 0,
            declarations: 0,
            functions: 0,
            locals: 0,
            module: CoreModule::default(),
            refused: Vec::new(),
            is_resolver: false,
        }
    }

    fn payload(&mut self, payload: Payload<'_>) -> Result<(), LoadError> {
        let limits = self.limits;
        match payload {
            Payload::Version { encoding, .. } => return self.open(encoding),
            Payload::End(_) => self.depth = self.depth.saturating_sub(1),
            Payload::TypeSection(types) => return self.core_types(types),
            Payload::FunctionSection(functions) => {
                // The count is judged before the list is kept.
                add(&mut self.functions, functions.count(), limits.functions, "functions")?;
                for of_type in functions {
                    self.module.functions.push(of_type.map_err(malformed)?);
                }
            }
            Payload::CodeSectionEntry(body) => return self.function(&body),
            Payload::ImportSection(imports) => return self.core_imports(imports),
            Payload::ComponentTypeSection(types) => {
                return add(&mut self.types, types.count(), limits.types, "types");
            }
            Payload::CoreTypeSection(types) => {
                return add(&mut self.types, types.count(), limits.types, "types");
            }
            Payload::ComponentImportSection(imports) => {
                self.declare(imports.count())?;
                // Imports of components inside are their own affair: another component inside has to supply them.
                if self.depth == 1 {
                    for import in imports {
                        self.import(import.map_err(malformed)?.name.name);
                    }
                }
            }
            Payload::ComponentExportSection(exports) => {
                self.declare(exports.count())?;
                if self.depth == 1 {
                    for export in exports {
                        self.export(export.map_err(malformed)?.name.name);
                    }
                }
            }
            Payload::TableSection(section) => return self.declare(section.count()),
            Payload::MemorySection(section) => return self.declare(section.count()),
            Payload::TagSection(section) => return self.declare(section.count()),
            Payload::GlobalSection(section) => return self.declare(section.count()),
            Payload::ExportSection(section) => return self.declare(section.count()),
            Payload::ElementSection(section) => return self.declare(section.count()),
            Payload::DataSection(section) => return self.declare(section.count()),
            Payload::InstanceSection(section) => return self.declare(section.count()),
            Payload::ComponentInstanceSection(section) => return self.declare(section.count()),
            Payload::ComponentAliasSection(section) => return self.declare(section.count()),
            Payload::ComponentCanonicalSection(section) => return self.declare(section.count()),
            _ => {}
        }
        Ok(())
    }

    /// Begins a component or a core module.
    fn open(&mut self, encoding: Encoding) -> Result<(), LoadError> {
        self.depth += 1;
        match encoding {
            Encoding::Component => {
                let what = "components inside each other";
                at_most("the module", what, self.depth, self.limits.depth)?;
                add(&mut self.components, 1_u32, self.limits.components, "components")
            }
            Encoding::Module => {
                // Core modules do not nest, so that one is enough.
                self.module = CoreModule { index: self.modules, ..CoreModule::default() };
                add(&mut self.modules, 1_u32, self.limits.modules, "core modules")
            }
        }
    }

    fn declare(&mut self, count: u32) -> Result<(), LoadError> {
        let what = "imports, exports and other declarations";
        add(&mut self.declarations, count, self.limits.declarations, what)
    }

    fn import(&mut self, name: &str) {
        if !is_offered(name) && self.refused.len() < NAMED_IMPORTS {
            self.refused.push(cut(name.to_owned()));
        }
    }

    fn export(&mut self, name: &str) {
        self.is_resolver |= name.split('@').next() == Some(EXPORT);
    }

    fn core_types(&mut self, groups: TypeSectionReader<'_>) -> Result<(), LoadError> {
        for group in groups {
            for declared in group.map_err(malformed)?.types() {
                add(&mut self.types, 1_u32, self.limits.types, "types")?;
                let parameters = match &declared.composite_type.inner {
                    CompositeInnerType::Func(function) => {
                        let parameters = function.params().len() as u64;
                        let results = function.results().len() as u64;
                        let whose = format_args!("a type of core module {}", self.module.index);
                        at_most(whose, "parameters", parameters, self.limits.parameters)?;
                        at_most(whose, "results", results, self.limits.results)?;
                        parameters
                    }
                    _ => 0,
                };
                self.module.parameters.push(parameters);
            }
        }
        Ok(())
    }

    fn core_imports(&mut self, imports: ImportSectionReader<'_>) -> Result<(), LoadError> {
        for import in imports.into_imports() {
            self.declare(1)?;
            let imported = import.map_err(malformed)?.ty;
            if matches!(imported, TypeRef::Func(_) | TypeRef::FuncExact(_)) {
                self.module.imported_functions += 1;
            }
        }
        Ok(())
    }

    fn function(&mut self, body: &FunctionBody<'_>) -> Result<(), LoadError> {
        let limits = self.limits;
        let (name, parameters) = self.module.next_function();
        let size = body.as_bytes().len() as u64;
        at_most(&name, "bytes", size, limits.function_bytes)?;
        let mut declared = 0;
        // A group has 32 bits and takes at least two bytes, so that the sum cannot overflow.
        for group in body.get_locals_reader().map_err(malformed)? {
            declared += u64::from(group.map_err(malformed)?.0);
        }
        // A few bytes can declare billions of locals.
        let locals = parameters + declared;
        at_most(&name, "parameters and locals", locals, limits.function_locals)?;
        add(&mut self.locals, declared, limits.locals, "locals")?;
        // A branch takes at least two bytes. Only a few functions need the second look.
        if locals.saturating_mul(size / 2) > limits.function_joins {
            let joins = locals.saturating_mul(branches(body)?);
            at_most(&name, "locals times branches", joins, limits.function_joins)?;
        }
        Ok(())
    }
}

impl CoreModule {
    /// Returns the name of the function whose body is next, and the number of its parameters.
    fn next_function(&mut self) -> (FunctionName, u64) {
        let index = self.imported_functions + self.bodies as u64;
        let of_type = self.functions.get(self.bodies).copied();
        // A body without a type counts as one without parameters: the compiler refuses it anyway.
        let parameters = of_type.and_then(|of_type| self.parameters.get(of_type as usize));
        self.bodies += 1;
        let name = FunctionName { index, module: self.index };
        (name, parameters.copied().unwrap_or_default())
    }
}

/// A function by its index among the functions of its core module, imported ones first, as tools count them.
struct FunctionName {
    index: u64,
    module: u64,
}

impl Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function {} of core module {}", self.index, self.module)
    }
}

/// Counts the places at which control flow of a function splits or joins.
fn branches(body: &FunctionBody<'_>) -> Result<u64, LoadError> {
    let mut branches = 0;
    for operator in body.get_operators_reader().map_err(malformed)? {
        branches += match operator.map_err(malformed)? {
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Else
            | Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::Return
            | Operator::TryTable { .. } => 1,
            Operator::BrTable { targets } => u64::from(targets.len()) + 1,
            _ => 0,
        };
    }
    Ok(branches)
}

/// Adds to a count of the component.
fn add(
    total: &mut u64,
    count: impl Into<u64>,
    limit: u64,
    what: &'static str,
) -> Result<(), LoadError> {
    *total = total.saturating_add(count.into());
    at_most("the module", what, *total, limit)
}

/// Refuses more of something than is accepted.
fn at_most(whose: impl Display, what: &str, count: u64, limit: u64) -> Result<(), LoadError> {
    if count <= limit {
        return Ok(());
    }
    let fault = format!("{whose} has {count} {what}: at most {limit} are accepted");
    Err(LoadError::Structure(fault))
}

fn malformed(error: impl Display) -> LoadError {
    LoadError::Compile(cut(error.to_string()))
}

#[cfg(test)]
mod tests;
