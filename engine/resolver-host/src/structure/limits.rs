//! The limits of a component's structure. Each number has its reason.

/// The limits of a component's structure. Each is several times what the largest samples have: JavaScript (12 MB) and
/// Python (16 MB) with their interpreters.
#[derive(Clone, Copy, Debug)]
pub struct StructureLimits {
    /// Components, nested ones included. Python has 3.
    pub components: u64,
    /// The depth of components in components. All samples have 2.
    pub depth: u64,
    /// Core modules. Python has 38, and an instance may have 64.
    pub modules: u64,
    /// Types, core types included. Python has 1,452.
    pub types: u64,
    /// Imports, exports, globals, instances and other declarations without code. Python has some 9,000.
    pub declarations: u64,
    /// Functions. JavaScript has 19,852.
    pub functions: u64,
    /// Bytes of a function. Python has one of 426,843.
    pub function_bytes: u64,
    /// Parameters and locals of a function. JavaScript has one with 486; unoptimised Rust has thousands.
    pub function_locals: u64,
    /// Locals of all functions. JavaScript has 112,541.
    pub locals: u64,
    /// Parameters of a function or block. Python has 18. A branch passes all of them in two bytes.
    pub parameters: u64,
    /// Results of a function or block. All samples have 1.
    pub results: u64,
    /// The parameters and locals of a function times its branches: the number of values that the compiler may have to
    /// join. Each takes some 600 bytes. JavaScript has one with 493,896.
    pub function_joins: u64,
}

impl Default for StructureLimits {
    fn default() -> Self {
        Self {
            components: 16,
            depth: 4,
            modules: 64,
            types: 10_000,
            declarations: 100_000,
            functions: 100_000,
            function_bytes: 1 << 20,
            function_locals: 10_000,
            locals: 1_000_000,
            parameters: 100,
            results: 16,
            function_joins: 2_000_000,
        }
    }
}
