//! The tests that are written as calls: `exists`, `ip_in` and `during`.

use crate::condition::items::ITEM_EXISTS;
use crate::condition::{AttributePath, Operand, Predicate, Test};
use crate::during::TimeWindow;
use crate::excerpt::quoted;
use crate::invalid::Fault;
use crate::operator::{Networks, UnaryOperator, parse_network};
use crate::syntax::{Token, TokenKind, Tokens};

/// Completes "expected …" for a network.
const NETWORK: &str = "a network such as `10.0.0.0/8` with host bits zero, or an address";

impl Tokens<'_> {
    /// Reads the arguments of the test `name`. The next token is `(`. `None` if there is no such test.
    pub(super) fn test_call(&mut self, name: Token<'_>) -> Result<Option<Test>, Fault> {
        let read: fn(&mut Self) -> Result<Predicate, Fault> = match name.text.parse() {
            Ok(UnaryOperator::Exists) => |_| Ok(Predicate::Exists),
            Ok(UnaryOperator::IpIn) => |tokens| {
                tokens.expect(",", "`,` and a network or a list of networks")?;
                tokens.networks().map(Predicate::IpIn)
            },
            Ok(UnaryOperator::During) => |tokens| {
                tokens.expect(",", "`,` and a time window")?;
                tokens.window().map(Predicate::During)
            },
            // `matches` stands between its sides.
            Ok(UnaryOperator::Matches) | Err(_) => return Ok(None),
        };
        self.take()?;
        let start = self.take()?;
        let attribute = self.attribute_from(start)?;
        let predicate = read(self)?;
        check_presence(start, &attribute, &predicate)?;
        self.expect(")", "`)`")?;
        Ok(Some(Test { attribute, predicate, if_missing: None }))
    }

    /// Reads one network or a list of networks.
    fn networks(&mut self) -> Result<Networks, Fault> {
        let start = self.next;
        if start.kind == TokenKind::Text {
            self.take()?;
            let network = parse_network(&start.content()).ok_or_else(|| start.fault(NETWORK))?;
            return Ok(Networks::new(&[network]));
        }
        let list = if start.is("[") { Some(self.list("]")?) } else { None };
        let Some(Operand::List(list)) = list.filter(|list| !has_numbers(list)) else {
            return Err(start.fault("a network in quotes or a list of networks"));
        };
        let networks = list.texts().map(|text| {
            parse_network(text)
                .ok_or_else(|| start.fault(format!("{NETWORK}, not {}", quoted(text))))
        });
        Ok(Networks::new(&networks.collect::<Result<Vec<_>, _>>()?))
    }

    fn window(&mut self) -> Result<TimeWindow, Fault> {
        let text = self.take()?;
        if text.kind != TokenKind::Text {
            return Err(text.fault("a time window such as `\"mon-fri 08:00-18:00 Europe/Berlin\"`"));
        }
        TimeWindow::parse(&text.content()).map_err(|expected| text.fault(expected))
    }
}

/// Refuses to ask whether `item` exists. `at` is its token.
pub(super) fn check_presence(
    at: Token<'_>,
    attribute: &AttributePath,
    predicate: &Predicate,
) -> Result<(), Fault> {
    match (attribute, predicate) {
        (AttributePath::Item, Predicate::Exists) => Err(at.fault(ITEM_EXISTS)),
        _ => Ok(()),
    }
}

fn has_numbers(operand: &Operand) -> bool {
    matches!(operand, Operand::List(list) if list.numbers().next().is_some())
}
