package dev.portcullis.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** There is no decision: the service cannot be reached, is too slow, or does not answer as it should. */
public class UnavailableException extends PortcullisException {
    private static final long serialVersionUID = 1;
    private final Kind kind;
    private final int attempts;
    private final @Nullable Integer status;
    private final @Nullable Duration retryAfter;

    /** Makes the exception of a service that cannot be reached, for doubles. */
    public UnavailableException(Kind kind, String message, int attempts) {
        this(kind, message, attempts, null, null, null);
    }

    UnavailableException(
            Kind kind,
            String message,
            int attempts,
            @Nullable Integer status,
            @Nullable Duration retryAfter,
            @Nullable Throwable cause) {
        super("unavailable (" + kind + "): " + message, cause);
        this.kind = kind;
        this.attempts = attempts;
        this.status = status;
        this.retryAfter = retryAfter;
    }

    /** Returns why there is no decision. */
    public Kind kind() {
        return kind;
    }

    /** Returns the number of requests that were sent. */
    public int attempts() {
        return attempts;
    }

    /** Returns the status of the last answer, if there was one. */
    public @Nullable Integer status() {
        return status;
    }

    /** Returns the time that the service asked to wait, if it did. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }
}
