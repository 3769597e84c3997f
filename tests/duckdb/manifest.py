"""Runs the statement of the standard input on the database of SQLite that the argument names, and prints the rows."""

import json
import sqlite3
import sys

connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(json.dumps(connection.execute(sys.stdin.read()).fetchall()))
