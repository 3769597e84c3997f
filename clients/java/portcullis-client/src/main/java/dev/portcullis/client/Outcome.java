package dev.portcullis.client;

import java.util.Locale;

/** How a call ended, as an {@link Observer} is told. */
public enum Outcome {
    ALLOWED,
    DENIED,
    /** The end of a call that asks for no decision, or for many. */
    OK,
    UNAVAILABLE,
    REJECTED,
    /** The caller gave up. */
    ABORTED;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
