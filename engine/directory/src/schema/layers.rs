//! Layers: a term below a `!` is finished before the terms above it.

use super::names::Names;
use super::terms::{Term, TermId};

/// The place of a term among the others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layer {
    /// Greater than the level of each term on which the term depends by a `!`, and not smaller than any other's.
    pub(crate) level: u32,
    /// Terms that depend on each other have the same component.
    pub(crate) component: u32,
}

/// A term whose dependencies are looked at.
struct Frame {
    term: TermId,
    dependencies: Vec<(TermId, bool)>,
    next: usize,
}

/// Tarjan's algorithm, without recursion. Components are numbered after those that they depend on.
struct Components<'t> {
    terms: &'t [Term],
    names: &'t Names,
    layers: Vec<Layer>,
    /// The order in which terms were met, from 1; 0 for a term that was not.
    met: Vec<u32>,
    /// The first term that is known to depend on the term and on which it depends, by its order.
    lowest: Vec<u32>,
    /// The terms whose component is not known yet.
    open: Vec<TermId>,
    count: u32,
    components: u32,
}

const UNKNOWN: u32 = u32::MAX;

/// Returns the layer of each term.
pub(super) fn layers(terms: &[Term], names: &Names) -> Vec<Layer> {
    let unknown = Layer { level: 0, component: UNKNOWN };
    let mut components = Components {
        terms,
        names,
        layers: vec![unknown; terms.len()],
        met: vec![0; terms.len()],
        lowest: vec![0; terms.len()],
        open: Vec::new(),
        count: 0,
        components: 0,
    };
    for term in (0..).zip(terms).map(|(id, _)| id) {
        if components.met[term as usize] == 0 {
            components.visit(term);
        }
    }
    components.layers
}

impl Components<'_> {
    fn visit(&mut self, root: TermId) {
        let mut frames = vec![self.enter(root)];
        while let Some(frame) = frames.last_mut() {
            let term = frame.term as usize;
            match frame.dependencies.get(frame.next) {
                Some((dependency, _)) if self.met[*dependency as usize] == 0 => {
                    let dependency = *dependency;
                    // `next` stays: the dependency is looked at again when it is finished.
                    frames.push(self.enter(dependency));
                }
                Some((dependency, _)) => {
                    let dependency = *dependency as usize;
                    frame.next += 1;
                    // A component that is closed does not lead back here.
                    if self.layers[dependency].component == UNKNOWN {
                        self.lowest[term] = self.lowest[term].min(self.lowest[dependency]);
                    }
                }
                None => {
                    if self.lowest[term] == self.met[term] {
                        self.close(frame.term);
                    }
                    frames.pop();
                }
            }
        }
    }

    fn enter(&mut self, term: TermId) -> Frame {
        self.count += 1;
        self.met[term as usize] = self.count;
        self.lowest[term as usize] = self.count;
        self.open.push(term);
        Frame { term, dependencies: self.dependencies(term), next: 0 }
    }

    fn dependencies(&self, term: TermId) -> Vec<(TermId, bool)> {
        let term = &self.terms[term as usize];
        let mut all = Vec::new();
        let stored = &self.names.entry(term.relation).stored;
        term.each_dependency(stored, |dependency, is_positive| all.push((dependency, is_positive)));
        all
    }

    /// Closes the component whose first term is `first`.
    fn close(&mut self, first: TermId) {
        let start = self.open.iter().rposition(|term| *term == first).unwrap_or_default();
        let members = self.open.split_off(start);
        for term in &members {
            self.layers[*term as usize].component = self.components;
        }
        let mut level = 0;
        for term in &members {
            for (dependency, is_positive) in self.dependencies(*term) {
                let below = self.layers[dependency as usize];
                // A `!` within a component is a fault, which the compiler notes.
                if below.component != self.components {
                    level = level.max(below.level + u32::from(!is_positive));
                }
            }
        }
        for term in &members {
            self.layers[*term as usize].level = level;
        }
        self.components += 1;
    }
}
