//! The table of the operators of conditions: one row has every fact of an operator but its meaning.
//!
//! Readers, printers, indexes, SQL, schemas, documents and tests take their facts from the rows, and match the columns
//! without a default. So the compiler names each place that a new operator needs.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::period::Direction;

use ComparedKind::{Bool, Duration, List, Number, Text};

/// An operator that compares two values, named as in a condition tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
#[expect(missing_docs, reason = "`docs/semantics.md`, section 4.5, says what each name means")]
pub enum Operator {
    Eq,
    Ne,
    Lt,
    Lte,
    Gt,
    Gte,
    In,
    NotIn,
    Contains,
    ContainsAny,
    ContainsAll,
    StartsWith,
    EndsWith,
    Before,
    After,
    Within,
    WithinNext,
}

/// An operator that tests one value, named as in a condition tree. Its right side, if any, is always a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
#[expect(missing_docs, reason = "`docs/semantics.md`, section 4.5, says what each name means")]
pub enum UnaryOperator {
    Matches,
    IpIn,
    During,
    Exists,
}

/// The facts of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The symbol or word between the two sides of an expression.
    pub symbol: &'static str,
    /// The right sides that it accepts.
    pub takes: Takes,
    /// The kinds of the left and right values that it compares. Other values are undetermined.
    pub compares: &'static [(ComparedKind, ComparedKind)],
    /// The operator that is false where this one is true. A positive operator has none.
    pub(crate) negates: Option<Operator>,
    /// The operator that is true with the sides exchanged.
    pub(crate) mirror: Mirror,
    /// The estimated time of a test in nanoseconds, if the right side is a scalar literal.
    pub(crate) cost: u32,
    /// The form in which SQL and the analysis of conditions treat it.
    pub(crate) form: Form,
    /// The values that an index finds. A negating operator has the lookup of the one that it negates.
    pub(crate) lookup: Lookup,
}

/// The right sides that an operator accepts: literals, and another attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Takes {
    /// A text, a number or a boolean.
    Scalar,
    /// A text or a number.
    Ordered,
    /// A list of texts and numbers.
    List,
    /// A text.
    Text,
    /// A date-time in RFC 3339.
    Instant,
    /// A duration in ISO 8601, and no attribute.
    Duration,
}

impl Takes {
    /// Returns whether a literal on the right side is a list.
    pub fn accepts_list(self) -> bool {
        match self {
            Self::List => true,
            Self::Scalar | Self::Ordered | Self::Text | Self::Instant | Self::Duration => false,
        }
    }

    /// Returns whether the right side may be another attribute.
    pub fn accepts_attribute(self) -> bool {
        match self {
            Self::Scalar | Self::Ordered | Self::List | Self::Text | Self::Instant => true,
            Self::Duration => false,
        }
    }
}

/// The kind of a present value that operators compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ComparedKind {
    Text,
    Number,
    Bool,
    List,
    /// A literal of a policy alone.
    Duration,
}

/// The operator that is true with the sides exchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mirror {
    Always(Operator),
    /// Only if the side that is searched is a list.
    OfList(Operator),
    Never,
}

/// The relation that an operator tests between its sides, apart from a negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Compares two scalars.
    Order(Order),
    /// Compares two instants.
    Instants(Order),
    /// Looks for a scalar in a list.
    Member,
    /// Looks for a text in another one, and [`Part::Anywhere`] for an item in a list.
    Part(Part),
    /// Looks for the items of a list in another one.
    Items(Quantifier),
    /// Compares the distance of an instant from the present with a duration.
    Near(Direction),
}

impl Form {
    /// Returns whether a test is true or false for every text that it compares: a text may be no instant.
    pub(crate) fn compares_every_text(self) -> bool {
        match self {
            Self::Order(_) | Self::Member | Self::Part(_) | Self::Items(_) => true,
            Self::Instants(_) | Self::Near(_) => false,
        }
    }

    /// Returns whether a test of two lists looks at the pairs of their items.
    pub(crate) fn compares_pairs(self) -> bool {
        match self {
            Self::Items(_) => true,
            Self::Order(_) | Self::Instants(_) | Self::Member | Self::Part(_) | Self::Near(_) => {
                false
            }
        }
    }

    /// Returns whether a test is true or false by the equality of whole texts.
    pub(crate) fn compares_whole_texts(self) -> bool {
        match self {
            Self::Order(order) => order.is_equality(),
            Self::Member => true,
            Self::Instants(_) | Self::Part(_) | Self::Items(_) | Self::Near(_) => false,
        }
    }
}

/// The order of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Eq,
    Ne,
    Lt,
    Lte,
    Gt,
    Gte,
}

impl Order {
    /// Returns whether values without an order have it, such as booleans.
    pub(crate) fn is_equality(self) -> bool {
        matches!(self, Self::Eq | Self::Ne)
    }
}

/// The place of a text in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Anywhere,
    Start,
    End,
}

/// The number of items that must be found, or meet a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// At least one.
    Any,
    /// Each one.
    All,
}

impl Quantifier {
    /// Returns the word of expressions.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::All => "all",
        }
    }

    /// Returns the `type` of its node in a condition tree.
    pub(crate) fn node(self) -> &'static str {
        match self {
            Self::Any => "ANY",
            Self::All => "ALL",
        }
    }

    /// Returns the truth of an item that decides for the whole list.
    pub(crate) fn deciding(self) -> bool {
        self == Self::Any
    }
}

/// The values of the left side that an index finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The scalar that equals the right side.
    Equal,
    /// The scalars that equal an item of the right side.
    EqualItem,
    /// The lists that have the right side as an item.
    WithItem,
    /// The lists that have this many items of the right side.
    WithItems(Quantifier),
    /// The texts that begin with the right side.
    Prefix,
    /// The numbers below the right side, and the number itself if `inclusive`.
    Below { inclusive: bool },
    /// The instants at most a duration away from the present.
    Near(Direction),
    /// None: each value is tested.
    Scan,
}

/// Returns the names of all operators.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    crate::names::names::<Operator>().chain(crate::names::names::<UnaryOperator>())
}

impl Operator {
    /// Returns the symbols and words of expressions.
    pub(crate) fn symbols() -> impl Iterator<Item = &'static str> {
        Self::VARIANTS.iter().map(|operator| operator.row().symbol)
    }

    /// Returns the operator that expressions write as `symbol`.
    pub(crate) fn from_symbol(symbol: &str) -> Option<Self> {
        Self::VARIANTS.iter().copied().find(|operator| operator.row().symbol == symbol)
    }

    /// Returns the facts of the operator.
    pub const fn row(self) -> &'static Row {
        match self {
            Self::Eq => &EQ,
            Self::Ne => &NE,
            Self::Lt => &LT,
            Self::Lte => &LTE,
            Self::Gt => &GT,
            Self::Gte => &GTE,
            Self::In => &IN,
            Self::NotIn => &NOT_IN,
            Self::Contains => &CONTAINS,
            Self::ContainsAny => &CONTAINS_ANY,
            Self::ContainsAll => &CONTAINS_ALL,
            Self::StartsWith => &STARTS_WITH,
            Self::EndsWith => &ENDS_WITH,
            Self::Before => &BEFORE,
            Self::After => &AFTER,
            Self::Within => &WITHIN,
            Self::WithinNext => &WITHIN_NEXT,
        }
    }
}

const EQ: Row = Row {
    symbol: "==",
    takes: Takes::Scalar,
    compares: &[(Text, Text), (Number, Number), (Bool, Bool)],
    negates: None,
    mirror: Mirror::Always(Operator::Eq),
    cost: 3,
    form: Form::Order(Order::Eq),
    lookup: Lookup::Equal,
};

const NE: Row = Row {
    symbol: "!=",
    negates: Some(Operator::Eq),
    mirror: Mirror::Always(Operator::Ne),
    form: Form::Order(Order::Ne),
    ..EQ
};

const LT: Row = Row {
    symbol: "<",
    takes: Takes::Ordered,
    compares: &[(Text, Text), (Number, Number)],
    negates: None,
    mirror: Mirror::Always(Operator::Gt),
    cost: 3,
    form: Form::Order(Order::Lt),
    lookup: Lookup::Below { inclusive: false },
};

const LTE: Row = Row {
    symbol: "<=",
    mirror: Mirror::Always(Operator::Gte),
    lookup: Lookup::Below { inclusive: true },
    form: Form::Order(Order::Lte),
    ..LT
};

const GT: Row = Row {
    symbol: ">",
    negates: Some(Operator::Lte),
    mirror: Mirror::Always(Operator::Lt),
    form: Form::Order(Order::Gt),
    ..LTE
};

const GTE: Row = Row {
    symbol: ">=",
    negates: Some(Operator::Lt),
    mirror: Mirror::Always(Operator::Lte),
    form: Form::Order(Order::Gte),
    ..LT
};

const IN: Row = Row {
    symbol: "in",
    takes: Takes::List,
    compares: &[(Text, List), (Number, List), (Bool, List)],
    negates: None,
    mirror: Mirror::OfList(Operator::Contains),
    cost: 10,
    form: Form::Member,
    lookup: Lookup::EqualItem,
};

const NOT_IN: Row =
    Row { symbol: "not_in", negates: Some(Operator::In), mirror: Mirror::Never, ..IN };

const CONTAINS: Row = Row {
    symbol: "contains",
    takes: Takes::Scalar,
    compares: &[(Text, Text), (List, Text), (List, Number), (List, Bool)],
    negates: None,
    mirror: Mirror::OfList(Operator::In),
    cost: 10,
    form: Form::Part(Part::Anywhere),
    lookup: Lookup::WithItem,
};

const CONTAINS_ANY: Row = Row {
    symbol: "contains_any",
    takes: Takes::List,
    compares: &[(List, List)],
    negates: None,
    mirror: Mirror::Always(Operator::ContainsAny),
    cost: 40,
    form: Form::Items(Quantifier::Any),
    lookup: Lookup::WithItems(Quantifier::Any),
};

const CONTAINS_ALL: Row = Row {
    symbol: "contains_all",
    mirror: Mirror::Never,
    form: Form::Items(Quantifier::All),
    lookup: Lookup::WithItems(Quantifier::All),
    ..CONTAINS_ANY
};

const STARTS_WITH: Row = Row {
    symbol: "starts_with",
    takes: Takes::Text,
    compares: &[(Text, Text)],
    negates: None,
    mirror: Mirror::Never,
    cost: 3,
    form: Form::Part(Part::Start),
    lookup: Lookup::Prefix,
};

const ENDS_WITH: Row =
    Row { symbol: "ends_with", form: Form::Part(Part::End), lookup: Lookup::Scan, ..STARTS_WITH };

const BEFORE: Row = Row {
    symbol: "before",
    takes: Takes::Instant,
    compares: &[(Text, Text)],
    negates: None,
    mirror: Mirror::Always(Operator::After),
    cost: 80,
    form: Form::Instants(Order::Lt),
    lookup: Lookup::Scan,
};

const AFTER: Row = Row {
    symbol: "after",
    mirror: Mirror::Always(Operator::Before),
    form: Form::Instants(Order::Gt),
    ..BEFORE
};

const WITHIN: Row = Row {
    symbol: "within",
    takes: Takes::Duration,
    compares: &[(Text, Duration)],
    mirror: Mirror::Never,
    cost: 160,
    form: Form::Near(Direction::Past),
    lookup: Lookup::Near(Direction::Past),
    ..BEFORE
};

const WITHIN_NEXT: Row = Row {
    symbol: "within_next",
    form: Form::Near(Direction::Future),
    lookup: Lookup::Near(Direction::Future),
    ..WITHIN
};
