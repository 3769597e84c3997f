package dev.portcullis.client;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Options of a single call. Each method gives a changed copy. */
public final class CallOptions {
    private static final CallOptions DEFAULTS = new CallOptions(null, null, null, null, false);

    private final @Nullable Duration timeout;
    private final @Nullable String revision;
    private final @Nullable OnUnavailable onUnavailable;
    private final @Nullable Credential credential;
    private final boolean isWaitedFor;

    private CallOptions(
            @Nullable Duration timeout,
            @Nullable String revision,
            @Nullable OnUnavailable onUnavailable,
            @Nullable Credential credential,
            boolean isWaitedFor) {
        this.timeout = timeout;
        this.revision = revision;
        this.onUnavailable = onUnavailable;
        this.credential = credential;
        this.isWaitedFor = isWaitedFor;
    }

    /** Returns the options of the client. */
    public static CallOptions defaults() {
        return DEFAULTS;
    }

    /** Sets the deadline of this call. */
    public CallOptions timeout(Duration value) {
        return new CallOptions(ClientOptions.positive("timeout", value), revision, onUnavailable, credential, isWaitedFor);
    }

    /** Sets a revision that the answer must not be older than, {@code <policy>/<entities>}. */
    public CallOptions revision(String value) {
        return new CallOptions(timeout, Objects.requireNonNull(value), onUnavailable, credential, isWaitedFor);
    }

    /** Sets what counts where there is no decision. */
    public CallOptions onUnavailable(OnUnavailable value) {
        return new CallOptions(timeout, revision, Objects.requireNonNull(value), credential, isWaitedFor);
    }

    /** Sets the credential of this call. */
    public CallOptions credential(Credential value) {
        return new CallOptions(timeout, revision, onUnavailable, Objects.requireNonNull(value), isWaitedFor);
    }

    /** Notes that the calling thread waits for the call. */
    CallOptions waitedFor() {
        return new CallOptions(timeout, revision, onUnavailable, credential, true);
    }

    boolean isWaitedFor() {
        return isWaitedFor;
    }

    @Nullable Duration timeout() {
        return timeout;
    }

    @Nullable String revision() {
        return revision;
    }

    @Nullable OnUnavailable onUnavailable() {
        return onUnavailable;
    }

    @Nullable Credential credential() {
        return credential;
    }

    @Override
    public String toString() {
        return "CallOptions[timeout=" + timeout + ", revision=" + revision + ", credential=" + credential + "]";
    }
}
