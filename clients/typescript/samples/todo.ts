/**
 * The todo application of AuthZEN's interop events with Express: `node todo.js`. `PORTCULLIS_URL` and `PORTCULLIS_TOKEN` say
 * who decides, `TODOS` is a file with people and todos. Everybody's password is `todo`.
 */

import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";

import { Portcullis } from "@portcullis/client";
import { protect } from "@portcullis/client/express";
import express, { type Request } from "express";

interface Todo {
  id: string;
  title: string;
  ownerID: string;
}

const data = JSON.parse(readFileSync(process.env["TODOS"] ?? "todos.json", "utf8")) as {
  people: Record<string, string[]>;
  todos: Todo[];
};
const todos = new Map(data.todos.map((todo) => [todo.id, todo]));
const client = new Portcullis({ token: process.env["PORTCULLIS_TOKEN"] ?? "", timeoutMs: 5000, retryBudget: 1 });

/** Returns who signs in by basic authentication (RFC 7617). */
function user(request: Request): string | undefined {
  const [, pair = ""] = /^Basic (.+)$/i.exec(request.get("authorization") ?? "") ?? [];
  const [, name, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(pair, "base64").toString()) ?? [];
  return name !== undefined && name in data.people && password === "todo" ? name : undefined;
}

/** Lets a request go on if the user may do the action. The owner is that of the todo in the path. */
const may = (resource: string) =>
  protect({
    client,
    resource,
    subject: user,
    attributes: (request: Request) => {
      const todo = todos.get(String(request.params["id"]));
      return {
        user: { roles: data.people[user(request) ?? ""] ?? [] },
        ...(todo && { resource: { ownerID: todo.ownerID } }),
      };
    },
  });

const app = express().use(express.json());
app.get("/users/:id", may("user:can_read_user"), (request, response) => {
  response.json({ id: request.params["id"] });
});
app.get("/todos", may("todo:can_read_todos"), (_, response) => {
  response.json([...todos.values()]);
});
app.post("/todos", may("todo:can_create_todo"), (request, response) => {
  const todo = { id: crypto.randomUUID(), title: String(request.body.title), ownerID: user(request) ?? "" };
  todos.set(todo.id, todo);
  response.status(201).json(todo);
});
app.put("/todos/:id", may("todo:can_update_todo"), (request, response) => {
  const todo = todos.get(String(request.params["id"]));
  if (todo) todo.title = String(request.body.title);
  response.status(todo ? 200 : 404).json(todo ?? {});
});
app.delete("/todos/:id", may("todo:can_delete_todo"), (request, response) => {
  response.sendStatus(todos.delete(String(request.params["id"])) ? 204 : 404);
});

const server = app.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
