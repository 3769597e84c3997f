"""Runs the statements of the standard input in DuckDB, and prints the rows of each as a line of JSON."""

import json
import sys

import duckdb

connection = duckdb.connect()
for statement in connection.extract_statements(sys.stdin.read()):
    print(json.dumps(connection.execute(statement).fetchall(), default=str))
