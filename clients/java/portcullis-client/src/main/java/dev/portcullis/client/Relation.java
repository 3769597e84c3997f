package dev.portcullis.client;

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
}
