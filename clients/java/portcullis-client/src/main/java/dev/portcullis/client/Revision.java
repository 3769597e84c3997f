package dev.portcullis.client;

import java.net.http.HttpHeaders;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A revision: the text {@code <policy>/<entities>}, of which a part may be empty. */
record Revision(@Nullable Long policy, @Nullable Long entities) {
    static final Revision NONE = new Revision(null, null);

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    /** Reads a text. What is not a number counts as absent. */
    static Revision parse(String text) {
        int slash = text.indexOf('/');
        return slash < 0
                ? new Revision(number(text), null)
                : new Revision(number(text.substring(0, slash)), number(text.substring(slash + 1)));
    }

    /** Returns the revisions that an answer names. */
    static Revision answered(HttpHeaders headers) {
        return new Revision(
                number(headers.firstValue("x-policy-revision").orElse("")),
                number(headers.firstValue("x-entities-revision").orElse("")));
    }

    /** Returns the higher of each part. */
    Revision highest(Revision other) {
        return new Revision(higher(policy, other.policy), higher(entities, other.entities));
    }

    /** Returns these parts, and those of another one where they are absent. */
    Revision orElse(Revision other) {
        return new Revision(policy != null ? policy : other.policy, entities != null ? entities : other.entities);
    }

    /** Returns whether a part is another than that of `other`, where both have it. */
    boolean differs(Revision other) {
        return differs(policy, other.policy) || differs(entities, other.entities);
    }

    /** Returns whether each part is there and at least as high, where `demanded` has it. */
    boolean reaches(Revision demanded) {
        return reaches(policy, demanded.policy) && reaches(entities, demanded.entities);
    }

    boolean isEmpty() {
        return policy == null && entities == null;
    }

    @Override
    public String toString() {
        return Objects.toString(policy, "") + "/" + Objects.toString(entities, "");
    }

    private static boolean reaches(@Nullable Long part, @Nullable Long demanded) {
        return demanded == null || part != null && part >= demanded;
    }

    private static boolean differs(@Nullable Long one, @Nullable Long other) {
        return one != null && other != null && !one.equals(other);
    }

    private static @Nullable Long higher(@Nullable Long one, @Nullable Long other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return Math.max(one, other);
    }

    private static @Nullable Long number(String text) {
        return NUMBER.matcher(text).matches() ? Long.valueOf(text) : null;
    }
}
