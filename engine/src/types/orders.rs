//! Orders of texts that are declared as date-times.

use super::{PropertyType, Types};
use crate::condition::{AttributePath, Condition, Predicate};
use crate::operator::Operator;
use crate::resource::ResourcePattern;

impl Types {
    /// Returns the first attribute that is declared as a date-time and that a condition on these resources compares by `<`,
    /// `<=`, `>` or `>=`: their order is the order of texts.
    pub fn datetime_as_text<'c>(
        &self,
        resource: &ResourcePattern,
        condition: &'c Condition,
    ) -> Option<&'c AttributePath> {
        let orders = condition.tests().into_iter().filter(|test| {
            let orders = [Operator::Lt, Operator::Lte, Operator::Gt, Operator::Gte];
            matches!(&test.predicate, Predicate::Compare(operator, _) if orders.contains(operator))
        });
        let mut read = orders
            .flat_map(|test| [Some(&test.attribute), test.predicate.right_attribute()])
            .flatten();
        read.find(|path| self.is_datetime(resource, path))
    }

    fn is_datetime(&self, resource: &ResourcePattern, path: &AttributePath) -> bool {
        let Some((namespace, name)) = path.sent() else { return false };
        let declared = self.declared_in(namespace, resource);
        declared.is_some_and(|names| names.kinds(name).contains(&PropertyType::Datetime))
    }
}
