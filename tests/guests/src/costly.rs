//! Components that cost their compiler far more than their size.

use wasm_encoder::{
    BlockType, CodeSection, Component, Function, FunctionSection, Module, ModuleSection,
    TypeSection, ValType,
};

/// The bytes of the header of a component.
const HEADER: usize = 8;

/// Functions with many locals that stay alive through nested loops: the compiler joins each local in each loop.
#[derive(Clone, Copy, Debug)]
pub struct CostlyFunctions {
    pub count: u32,
    pub parameters: u32,
    pub locals: u32,
    pub loops: u32,
}

impl CostlyFunctions {
    /// Adds a core module of these functions to a component. Nothing calls them, so the component behaves as before.
    pub fn added_to(self, component: &[u8]) -> Vec<u8> {
        let mut outer = Component::new();
        outer.section(&ModuleSection(&self.module()));
        [component, &outer.finish()[HEADER..]].concat()
    }

    fn module(self) -> Module {
        let mut types = TypeSection::new();
        types.ty().function(vec![ValType::I32; self.parameters as usize], []);
        let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
        let body = self.body();
        for _ in 0..self.count {
            functions.function(0);
            code.function(&body);
        }
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&code);
        module
    }

    fn body(self) -> Function {
        let mut body = Function::new([(self.locals, ValType::I32)]);
        let mut code = body.instructions();
        for _ in 0..self.loops {
            code.loop_(BlockType::Empty);
        }
        let locals = self.parameters + self.locals;
        for local in 0..locals {
            // Each local depends on the next one, so that all are alive at once.
            code.local_get((local + 1) % locals).i32_const(1).i32_add().local_set(local);
        }
        for _ in 0..self.loops {
            code.local_get(0).br_if(0).end();
        }
        code.end();
        body
    }
}
