"""The todo application of AuthZEN's interop events with FastAPI: `python todo.py`.

`PORTCULLIS_URL` and `PORTCULLIS_TOKEN` say who decides, `TODOS` is a file with people and todos. Everybody's password is `todo`.
"""

import json
import os
import socket
import uuid
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import Body, Depends, FastAPI, HTTPException, Request
from fastapi.security import HTTPBasic, HTTPBasicCredentials

from portcullis_client import AsyncPortcullis
from portcullis_client.fastapi import permit

DATA: dict[str, Any] = json.loads(Path(os.environ.get("TODOS", "todos.json")).read_text())
PEOPLE: dict[str, list[str]] = DATA["people"]
TODOS: dict[str, dict[str, str]] = {todo["id"]: todo for todo in DATA["todos"]}

client = AsyncPortcullis(token=os.environ["PORTCULLIS_TOKEN"], timeout=5.0, retry_budget=1.0)
basic = HTTPBasic()


def sign_in(request: Request, given: Annotated[HTTPBasicCredentials, Depends(basic)]) -> str:
    """Notes who asks."""
    if given.username not in PEOPLE or given.password != "todo":
        raise HTTPException(401, headers={"WWW-Authenticate": "Basic"})
    request.state.user = given.username
    return given.username


def about(request: Request) -> dict[str, Any]:
    """Returns the roles of who asks, and the owner of the todo in the path."""
    todo = TODOS.get(request.path_params.get("id", ""))
    attributes = {"user": {"roles": PEOPLE[request.state.user]}}
    return attributes | ({"resource": {"ownerID": todo["ownerID"]}} if todo else {})


def may(resource: str) -> list[Any]:
    """Returns what lets a request go on if the user may do the action."""
    decide = permit(client, resource, subject=lambda request: request.state.user, attributes=about)
    return [Depends(sign_in), Depends(decide)]


app = FastAPI()


@app.get("/users/{id}", dependencies=may("user:can_read_user"))
async def read_user(id: str) -> dict[str, str]:
    return {"id": id}


@app.get("/todos", dependencies=may("todo:can_read_todos"))
async def read_todos() -> list[dict[str, str]]:
    return list(TODOS.values())


@app.post("/todos", status_code=201, dependencies=may("todo:can_create_todo"))
async def create_todo(
    title: Annotated[str, Body(embed=True)], user: Annotated[str, Depends(sign_in)]
) -> dict[str, str]:
    todo = {"id": str(uuid.uuid4()), "title": title, "ownerID": user}
    TODOS[todo["id"]] = todo
    return todo


@app.put("/todos/{id}", dependencies=may("todo:can_update_todo"))
async def update_todo(id: str, title: Annotated[str, Body(embed=True)]) -> dict[str, str]:
    if id not in TODOS:
        raise HTTPException(404)
    TODOS[id]["title"] = title
    return TODOS[id]


@app.delete("/todos/{id}", status_code=204, dependencies=may("todo:can_delete_todo"))
async def delete_todo(id: str) -> None:
    if TODOS.pop(id, None) is None:
        raise HTTPException(404)


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
