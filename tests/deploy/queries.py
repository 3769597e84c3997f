"""Compares queries with the metrics of a service, and prints a line for each fault.

Arguments: a file with the text of `GET /metrics`, a dashboard of Grafana, and a file of alert rules.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import promql_parser
import yaml
from promql_parser import AggregateExpr, MatchOp, VectorSelector

# Prometheus adds these labels to every series, and this series to every target.
OF_TARGETS = {"job", "instance"}
OF_PROMETHEUS = {"up": {}}


def exposed(text: str) -> dict:
    """Returns the values of each label of each metric."""
    metrics = defaultdict(lambda: defaultdict(set))
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? ", text, re.MULTILINE):
        values = metrics[name]
        for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
            values[label].add(value)
    return metrics | OF_PROMETHEUS


def matches(matcher, value: str) -> bool:
    """Returns whether a series with this value of the label is selected."""
    if matcher.op in (MatchOp.Equal, MatchOp.NotEqual):
        found = matcher.value == value
    else:
        found = re.fullmatch(matcher.value, value) is not None
    return found == (matcher.op in (MatchOp.Equal, MatchOp.Re))


class Selectors:
    """Collects the selectors of an expression, and the labels by which each is grouped."""

    def __init__(self) -> None:
        self.found, self.grouped = [], []

    def enter(self, node) -> None:
        if isinstance(node, AggregateExpr):
            self.grouped.append(set(node.modifier.labels if node.modifier else ()))
        if isinstance(node, VectorSelector):
            self.found.append((node, set().union(*self.grouped)))

    def leave(self, node) -> None:
        if isinstance(node, AggregateExpr):
            self.grouped.pop()


def faults(query: str, metrics: dict):
    """Yields what is wrong with a query."""
    try:
        expression = promql_parser.parse(query.replace("$__rate_interval", "5m"))
    except ValueError as error:
        yield str(error)
        return
    selectors = Selectors()
    promql_parser.walk(expression, selectors.enter, selectors.leave)
    for selector, grouped in selectors.found:
        name, labels = selector.name, metrics.get(selector.name)
        if labels is None:
            yield f"no metric `{name}`"
            continue
        for label in sorted(grouped - OF_TARGETS - set(labels)):
            yield f"`{name}` has no label `{label}`"
        for matcher in selector.matchers.matchers:
            if matcher.name in OF_TARGETS:
                continue
            if not any(matches(matcher, value) for value in labels.get(matcher.name, ())):
                yield f"no series of `{name}` has the `{matcher.name}` of `{matcher.value}`"


def dashboard_queries(dashboard: dict):
    """Yields the place and the text of each query of a dashboard."""
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            selector, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["definition"]).groups()
            yield f"variable `{variable['name']}`", f"sum by ({label}) ({selector})"
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield f"panel `{panel['title']}`", target["expr"]


def alert_queries(rules: dict):
    """Yields the place and the text of each query of the alerts."""
    for group in rules["groups"]:
        for rule in group["rules"]:
            yield f"alert `{rule['alert']}`", rule["expr"]


def main() -> None:
    metrics, dashboard, rules = (Path(path).read_text() for path in sys.argv[1:])
    metrics = exposed(metrics)
    for place, query in [*dashboard_queries(json.loads(dashboard)), *alert_queries(yaml.safe_load(rules))]:
        for fault in faults(query, metrics):
            print(f"{place}: {fault}")


main()
