package dev.portcullis.client;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a check.
 *
 * @param allowed whether the subject may
 * @param rule the id of the rule or policy that decided
 * @param reason why, in words
 * @param revision the revisions that decided, {@code <policy>/<entities>}; a part may be empty
 * @param id the id of the record of the decision, if it was recorded
 * @param requestId the id by which the service knows the request
 * @param attempts the number of requests that were sent; 0 for an answer of the cache
 * @param unavailable whether the service gave no decision, and {@link OnUnavailable} did
 */
public record Decision(
        boolean allowed,
        @Nullable String rule,
        @Nullable String reason,
        @Nullable String revision,
        @Nullable String id,
        @Nullable String requestId,
        int attempts,
        boolean unavailable)
        implements Serializable {

    /** Returns the same decision from the cache. */
    Decision kept() {
        return new Decision(allowed, rule, reason, revision, id, requestId, 0, unavailable);
    }
}
