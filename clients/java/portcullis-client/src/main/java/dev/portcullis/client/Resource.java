package dev.portcullis.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A resource that a service registers.
 *
 * @param name {@code <name>:<verb>}
 * @param displayName the name that people see
 * @param serviceName the service whose resource it is
 * @param defaultRoles the roles that may use it at first
 */
public record Resource(String name, @Nullable String displayName, @Nullable String serviceName, List<String> defaultRoles) {
    public Resource {
        defaultRoles = defaultRoles == null ? List.of() : List.copyOf(defaultRoles);
    }

    /** Returns a resource that has a name alone. */
    public static Resource of(String name) {
        return new Resource(name, null, null, List.of());
    }
}
