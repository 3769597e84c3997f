package todo;

import java.security.Principal;
import java.util.Collection;
import java.util.Map;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The routes. */
@RestController
public class Handlers {
    /** What a client sends of a todo. */
    record Sent(String title) {}

    private final Todos todos;

    public Handlers(Todos todos) {
        this.todos = todos;
    }

    @GetMapping("/users/{id}")
    Map<String, String> user(@PathVariable("id") String id) {
        return todos.user(id);
    }

    @GetMapping("/todos")
    Collection<Todo> all() {
        return todos.all();
    }

    @PostMapping("/todos")
    @ResponseStatus(HttpStatus.CREATED)
    Todo create(Principal user, @RequestBody Sent sent) {
        return todos.create(user.getName(), sent.title());
    }

    @PutMapping("/todos/{id}")
    ResponseEntity<Todo> update(@PathVariable("id") String id, @RequestBody Sent sent) {
        return ResponseEntity.ofNullable(todos.update(id, sent.title()));
    }

    @DeleteMapping("/todos/{id}")
    ResponseEntity<Void> delete(@PathVariable("id") String id) {
        return todos.delete(id) == null ? ResponseEntity.notFound().build() : ResponseEntity.noContent().build();
    }
}
