//! The work that one comparison may take.

/// The maximum number of cells: a hundred resources with twenty roles and some domains. Some tens of milliseconds.
pub(super) const MAX_CELLS: usize = 100_000;
/// The maximum number of evaluations of policies: some hundred milliseconds.
const MAX_EVALUATIONS: usize = 1_000_000;
/// The cost of compiling a policy, in evaluations.
const COMPILATION: usize = 20;
/// The number of resources that a note names.
const NAMED: usize = 3;

/// The work that is left, and the resources that it did not suffice for.
pub(super) struct Budget<'s> {
    cells: usize,
    evaluations: usize,
    left_out: Vec<&'s str>,
}

impl<'s> Budget<'s> {
    pub(super) fn new() -> Self {
        Self { cells: MAX_CELLS, evaluations: MAX_EVALUATIONS, left_out: Vec::new() }
    }

    /// Takes the compilation of a resource's policies and its cells. Notes the resource if they do not fit.
    pub(super) fn take_resource(
        &mut self,
        resource: &'s str,
        policies: usize,
        cells: usize,
    ) -> Option<()> {
        let compiled = policies.saturating_mul(COMPILATION);
        let left = self.evaluations.checked_sub(compiled).zip(self.cells.checked_sub(cells));
        self.keep(resource, left)
    }

    /// Takes the evaluation of policies in each cell of a resource.
    pub(super) fn take_evaluations(
        &mut self,
        resource: &'s str,
        policies: usize,
        cells: usize,
    ) -> Option<()> {
        let evaluated = policies.saturating_mul(cells);
        let left = self.evaluations.checked_sub(evaluated).map(|left| (left, self.cells));
        self.keep(resource, left)
    }

    /// Notes a resource that is not decided.
    pub(super) fn leave_out(&mut self, resource: &'s str) {
        self.left_out.push(resource);
    }

    fn keep(&mut self, resource: &'s str, left: Option<(usize, usize)>) -> Option<()> {
        if left.is_none() {
            self.leave_out(resource);
        }
        (self.evaluations, self.cells) = left?;
        Some(())
    }

    /// Returns the note about what was left out; `None` if nothing was.
    pub(super) fn note(&self) -> Option<String> {
        let count = self.left_out.len();
        let named: Vec<_> =
            self.left_out.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
        let more = if count > NAMED { " and others" } else { "" };
        (count > 0).then(|| {
            format!(
                "{count} resources are left out ({}{more}): they have more cells or policies than are decided at once",
                named.join(", ")
            )
        })
    }
}
