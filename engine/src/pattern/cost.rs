//! The cost of translating an expression from its syntax tree. Translation writes classes of characters out: `\pL` has
//! 660 ranges. The cost is read off the syntax tree, which is small, before they exist.
//!
//! The unit is the same as in [`super::compiler`].

use std::convert::Infallible;

use regex_syntax::ast::{self, Ast, ClassSetItem, Flag, Flags, Visitor};

/// The cost of any node.
const NODE: u64 = 32;
/// The largest number of ranges of a named class, such as `\w`.
const NAMED_RANGES: u64 = 800;
/// The cost of a named class. A range takes 8 bytes.
const NAMED: u64 = 8 * NAMED_RANGES;
/// The number of code points that folding `\w` visits. It skips ranges without case.
const WORD: u64 = 20_000;
/// The number of all code points.
const ALL: u64 = 0x11_0000;

/// Returns the cost of translating `ast`.
pub(super) fn for_translation(ast: &Ast) -> u64 {
    match ast::visit(ast, Cost::default()) {
        Ok(cost) => cost,
    }
}

/// Collects the cost of a syntax tree.
#[derive(Default)]
struct Cost {
    /// The cost without case folding.
    plain: u64,
    /// The number of code points that case folding would visit. It visits each code point of a class.
    folded: u64,
    /// True if any part of the expression ignores case.
    ignores_case: bool,
    /// The number of ranges of the present class so far. Adding a range moves those after it.
    ranges: u64,
}

impl Cost {
    fn note_flags(&mut self, flags: &Flags) {
        self.ignores_case |= flags.flag_state(Flag::CaseInsensitive) == Some(true);
    }

    /// Adds ranges to the present class, with this number of code points in all.
    fn add_to_class(&mut self, ranges: u64, code_points: u64) {
        self.plain += NODE + 8 * ranges + self.ranges / 8;
        self.ranges += ranges;
        self.folded += code_points;
    }

    /// Combines an inner class with the one around it. Both may be folded.
    fn combine_classes(&mut self) {
        self.plain += NODE + self.ranges;
        self.folded += 2 * ALL;
    }
}

impl Visitor for Cost {
    type Output = u64;
    type Err = Infallible;

    fn finish(self) -> Result<u64, Infallible> {
        let folded = if self.ignores_case { self.folded } else { 0 };
        Ok(self.plain.saturating_add(folded))
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        self.plain += NODE;
        match ast {
            Ast::Flags(set) => self.note_flags(&set.flags),
            Ast::Group(group) => {
                if let Some(flags) = group.flags() {
                    self.note_flags(flags);
                }
            }
            // Folding leaves these out.
            Ast::ClassPerl(_) => self.plain += NAMED,
            Ast::ClassUnicode(_) => {
                self.plain += NAMED;
                self.folded += ALL;
            }
            Ast::ClassBracketed(_) => self.ranges = 0,
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        match item {
            ClassSetItem::Empty(_) | ClassSetItem::Union(_) | ClassSetItem::Bracketed(_) => {
                self.plain += NODE;
            }
            ClassSetItem::Literal(_) => self.add_to_class(1, 1),
            ClassSetItem::Range(range) => {
                let length = u32::from(range.end.c).saturating_sub(u32::from(range.start.c));
                self.add_to_class(1, u64::from(length) + 1);
            }
            ClassSetItem::Perl(class) if !class.negated => self.add_to_class(NAMED_RANGES, WORD),
            ClassSetItem::Ascii(class) if !class.negated => self.add_to_class(8, 128),
            // A negated class, or one of Unicode, may have nearly all code points.
            ClassSetItem::Perl(_) | ClassSetItem::Ascii(_) | ClassSetItem::Unicode(_) => {
                self.add_to_class(NAMED_RANGES, ALL);
            }
        }
        Ok(())
    }

    fn visit_class_set_item_post(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        if let ClassSetItem::Bracketed(_) = item {
            self.combine_classes();
        }
        Ok(())
    }

    fn visit_class_set_binary_op_post(
        &mut self,
        _: &ast::ClassSetBinaryOp,
    ) -> Result<(), Infallible> {
        self.combine_classes();
        Ok(())
    }
}
