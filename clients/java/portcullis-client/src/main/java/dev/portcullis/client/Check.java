package dev.portcullis.client;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A question: may the subject do the action on the resource? Each method gives a changed copy. */
public final class Check {
    private static final List<String> NAMESPACES = List.of("user", "resource", "action", "context");

    private final String subject;
    private final String resource;
    private final @Nullable String action;
    private final @Nullable String domain;
    private final Map<String, Map<String, Object>> attributes;
    private final @Nullable String expected;
    private final List<Relation> relations;

    private Check(
            String subject,
            String resource,
            @Nullable String action,
            @Nullable String domain,
            Map<String, Map<String, Object>> attributes,
            @Nullable String expected,
            List<Relation> relations) {
        this.subject = Objects.requireNonNull(subject, "subject");
        this.resource = Objects.requireNonNull(resource, "resource");
        this.action = action;
        this.domain = domain;
        this.attributes = attributes;
        this.expected = expected;
        this.relations = relations;
    }

    /** Asks about a subject and a resource, {@code <name>:<verb>}. */
    public static Check of(String subject, String resource) {
        return new Check(subject, resource, null, null, Map.of(), null, List.of());
    }

    /** Sets the action; without it, it is the verb of the resource. */
    public Check action(@Nullable String value) {
        return new Check(subject, resource, value, domain, attributes, expected, relations);
    }

    /** Sets the domain; without it, the domain of the client counts. */
    public Check domain(@Nullable String value) {
        return new Check(subject, resource, action, value, attributes, expected, relations);
    }

    /** Sets what another system decided, {@code allow} or {@code deny}. It changes no decision. */
    public Check expected(@Nullable String value) {
        return new Check(subject, resource, action, domain, attributes, value, relations);
    }

    /** Sets tuples that count beside the stored ones, in this decision alone. It takes the right to assume. */
    public Check relations(List<Relation> value) {
        return new Check(subject, resource, action, domain, attributes, expected, List.copyOf(value));
    }

    /**
     * Sets an attribute.
     *
     * @param path the namespace ({@code user}, {@code resource}, {@code action}, {@code context}) and the name: {@code resource.id}
     * @param value a text, a number, a boolean, or a list of texts or numbers
     */
    public Check attribute(String path, Object value) {
        int dot = path.indexOf('.');
        String namespace = path.substring(0, Math.max(dot, 0));
        if (!NAMESPACES.contains(namespace) || dot + 1 == path.length()) {
            throw new IllegalArgumentException("expected `user.`, `resource.`, `action.` or `context.` and a name, got `" + path + "`");
        }
        Map<String, Map<String, Object>> all = new LinkedHashMap<>(attributes);
        Map<String, Object> values = new LinkedHashMap<>(all.getOrDefault(namespace, Map.of()));
        values.put(path.substring(dot + 1), Objects.requireNonNull(value, "value"));
        all.put(namespace, Collections.unmodifiableMap(values));
        return new Check(subject, resource, action, domain, Collections.unmodifiableMap(all), expected, relations);
    }

    /** Returns who asks. */
    public String subject() {
        return subject;
    }

    /** Returns what is asked for. */
    public String resource() {
        return resource;
    }

    /** Returns the action, if it is set. */
    public @Nullable String action() {
        return action;
    }

    /** Returns the domain, if it is set. */
    public @Nullable String domain() {
        return domain;
    }

    /** Returns the attributes by namespace and name. */
    public Map<String, Map<String, Object>> attributes() {
        return attributes;
    }

    /** Returns what another system decided, if it is set. */
    public @Nullable String expected() {
        return expected;
    }

    /** Returns the tuples that count beside the stored ones. */
    public List<Relation> relations() {
        return relations;
    }

    /** Returns the body of the request. */
    Map<String, @Nullable Object> body(@Nullable String defaultDomain) {
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("subject", subject);
        body.put("resource", resource);
        Json.putPresent(body, "action", action != null ? action : verb());
        Json.putPresent(body, "domain", domain != null ? domain : defaultDomain);
        Json.putPresent(body, "attributes", attributes.isEmpty() ? null : attributes);
        Json.putPresent(body, "expected", expected);
        Json.putPresent(body, "relations", relations.isEmpty() ? null : relations.stream().map(Relation::body).toList());
        return body;
    }

    /** Returns what stands behind the last colon; null where it is percent-encoded, since the service decodes it for its rules. */
    private @Nullable String verb() {
        String verb = resource.substring(resource.lastIndexOf(':') + 1);
        return verb.contains("%") ? null : verb;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Check check && members().equals(check.members());
    }

    @Override
    public int hashCode() {
        return members().hashCode();
    }

    @Override
    public String toString() {
        return "Check" + members();
    }

    private Map<String, @Nullable Object> members() {
        Map<String, @Nullable Object> members = body(null);
        members.put("action", action);
        return members;
    }
}
