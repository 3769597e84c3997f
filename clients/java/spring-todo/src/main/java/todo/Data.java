package todo;

import java.util.List;
import java.util.Map;

/** What the application begins with: people with their roles, and todos. */
public record Data(Map<String, List<String>> people, List<Todo> todos) {
    @SuppressWarnings("unchecked")
    static Data of(Map<String, Object> json) {
        List<Map<String, String>> todos = (List<Map<String, String>>) json.get("todos");
        return new Data(
                (Map<String, List<String>>) json.get("people"),
                todos.stream().map(todo -> new Todo(todo.get("id"), todo.get("title"), todo.get("ownerID"))).toList());
    }
}
