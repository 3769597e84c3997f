package todo;

import dev.portcullis.spring.Permit;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.stereotype.Service;

/** The todos. Each method runs only if the service allows it to the user, with the user's roles and the owner of the todo. */
@Service
public class Todos {
    private final Map<String, Todo> todos = new ConcurrentHashMap<>();

    public Todos(Data data) {
        data.todos().forEach(todo -> todos.put(todo.id(), todo));
    }

    @Permit(value = "user:can_read_user", attributes = "user.roles=roles()")
    public Map<String, String> user(String id) {
        return Map.of("id", id);
    }

    @Permit(value = "todo:can_read_todos", attributes = "user.roles=roles()")
    public Collection<Todo> all() {
        return todos.values();
    }

    @Permit(value = "todo:can_create_todo", attributes = "user.roles=roles()")
    public Todo create(String owner, String title) {
        Todo todo = new Todo(UUID.randomUUID().toString(), title, owner);
        todos.put(todo.id(), todo);
        return todo;
    }

    @Permit(value = "todo:can_update_todo", attributes = {"user.roles=roles()", "resource.ownerID=owner(#id)"})
    public Todo update(String id, String title) {
        return todos.computeIfPresent(id, (key, todo) -> new Todo(id, title, todo.ownerID()));
    }

    @Permit(value = "todo:can_delete_todo", attributes = {"user.roles=roles()", "resource.ownerID=owner(#id)"})
    public Todo delete(String id) {
        return todos.remove(id);
    }

    /** Returns the roles of the user. */
    public List<String> roles() {
        return SecurityContextHolder.getContext().getAuthentication().getAuthorities().stream()
                .map(GrantedAuthority::getAuthority)
                .toList();
    }

    /** Returns the owner of a todo; null if there is no such todo. */
    public String owner(String id) {
        Todo todo = todos.get(id);
        return todo == null ? null : todo.ownerID();
    }
}
