package dev.portcullis.client;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One deadline over everything that a call does, by the monotonic clock. */
abstract class Deadline {
    /** The failure of work that the deadline, or a caller that gave up, ends. */
    static final class Expired extends Exception {
        private static final long serialVersionUID = 1;

        Expired() {
            super("the deadline is over", null, false, false);
        }
    }

    // Longer times would overflow.
    private static final Duration LONGEST = Duration.ofDays(3650);

    /** The nanoseconds from the begin of the call to its end. */
    final long timeout;

    private final long end;

    Deadline(Duration timeout) {
        this.timeout = (timeout.compareTo(LONGEST) > 0 ? LONGEST : timeout).toNanos();
        this.end = System.nanoTime() + this.timeout;
    }

    /** Returns the nanoseconds that are left. */
    final long left() {
        return end - System.nanoTime();
    }

    /** Returns what the work gives, or fails with {@link Expired} and cancels the work when the time is over. */
    abstract <T> CompletableFuture<T> race(CompletableFuture<T> work);

    /** Waits, or until the deadline. */
    abstract CompletableFuture<Void> pause(long nanos);

    /** Sends a request to a host, and gives its whole answer, or fails with {@link Expired} when the time is over. */
    abstract CompletableFuture<Answer> send(HttpClient http, @Nullable String host, HttpRequest.Builder request);

    /** Notes that the call has ended. */
    abstract void close();

    /** Ends all work of the call now. */
    abstract void expire();
}
