package dev.portcullis.client;

import java.util.Locale;

/** The cause for which there is no decision. */
public enum Kind {
    /** The connection was refused, reset, or closed before the whole answer. */
    CONNECT,
    /** There was no whole answer before the deadline. */
    TIMEOUT,
    /** The service, or something before it, answered with a status that is not an answer of the service. */
    STATUS,
    /** The answer is not one of the service. */
    ANSWER,
    /** There is no token to be had. */
    CREDENTIAL,
    /** The service has not the revision any more that the call demands. */
    REVISION_LOST;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
