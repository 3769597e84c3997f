package dev.portcullis.client;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The service refuses the request: it is not a denial, and a repeat does not help. */
public final class RejectedException extends PortcullisException {
    private static final long serialVersionUID = 1;
    private final int status;
    private final @Nullable String code;
    private final transient Map<String, Object> details;
    private final @Nullable String requestId;
    private final int attempts;

    RejectedException(
            int status,
            @Nullable String code,
            String message,
            Map<String, Object> details,
            @Nullable String requestId,
            int attempts) {
        super(message, null);
        this.status = status;
        this.code = code;
        this.details = details;
        this.requestId = requestId;
        this.attempts = attempts;
    }

    /** Makes the exception of a call that cannot be sent as it is. */
    static RejectedException unsendable(String message) {
        return new RejectedException(0, "INVALID_CALL", message, Map.of(), null, 0);
    }

    /** Returns the status of the answer; 0 where the client rejects the call without a request. */
    public int status() {
        return status;
    }

    /** Returns the code of the refusal. */
    public @Nullable String code() {
        return code;
    }

    /** Returns what the service says beside the message. It is empty after deserialization. */
    public Map<String, Object> details() {
        return details == null ? Map.of() : details;
    }

    /** Returns the id by which the service knows the request. */
    public @Nullable String requestId() {
        return requestId;
    }

    /** Returns the number of requests that were sent. */
    public int attempts() {
        return attempts;
    }
}
