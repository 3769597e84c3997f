package dev.portcullis.client;

import java.util.Map;

/**
 * A tuple of the graph of relations.
 *
 * @param object the object, {@code doc:1}
 * @param relation the relation, {@code viewer}
 * @param subject the subject, {@code user:ann}
 */
public record Relation(String object, String relation, String subject) {
    /** Returns the tuple of these parts. */
    public static Relation of(String object, String relation, String subject) {
        return new Relation(object, relation, subject);
    }

    /** Returns the members as a request has them. */
    Map<String, ?> body() {
        return Map.of("object", object, "relation", relation, "subject", subject);
    }
}
