"""Asks a service the questions of a file with the AuthZEN client `decern`, and prints the decisions as a list."""

import json
import os
import sys

from decern import Client, DecernError

url = os.environ["PORTCULLIS_URL"]
client = Client(url, timeout=30, token=os.environ["TOKEN"])
with open(sys.argv[1], encoding="utf-8") as file:
    questions = json.load(file)
print(json.dumps([client.evaluate(**question).allowed for question in questions]))
try:
    Client(url, timeout=30, token="wrong").evaluate(**questions[0])
    print("a wrong token is accepted")
except DecernError as error:
    print(error.status_code)
