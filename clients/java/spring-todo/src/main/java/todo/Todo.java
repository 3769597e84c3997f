package todo;

/** A todo and the name of its owner. */
public record Todo(String id, String title, String ownerID) {}
