package dev.portcullis.client;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** One deadline over everything that a call does, by the monotonic clock. */
final class Deadline {
    /** The failure of work that the deadline, or a caller that gave up, ends. */
    static final class Expired extends Exception {
        private static final long serialVersionUID = 1;

        private Expired() {
            super("the deadline is over", null, false, false);
        }
    }

    // Longer times would overflow.
    private static final Duration LONGEST = Duration.ofDays(3650);

    private final long end;
    private final Executor executor;
    // True where the time is over, false where the call has ended before.
    private final CompletableFuture<Boolean> timer = new CompletableFuture<>();
    private final CompletableFuture<Void> expiry = new CompletableFuture<>();

    Deadline(Duration timeout, Executor executor) {
        long nanos = (timeout.compareTo(LONGEST) > 0 ? LONGEST : timeout).toNanos();
        this.end = System.nanoTime() + nanos;
        this.executor = executor;
        timer.completeOnTimeout(true, nanos, TimeUnit.NANOSECONDS);
        // The thread of the timer serves the whole process: nothing of the caller may run there.
        timer.thenAccept(isOver -> {
            if (isOver) {
                onExecutor(this::expire);
            }
        });
    }

    /** Returns the nanoseconds that are left. */
    long left() {
        return end - System.nanoTime();
    }

    /** Returns what the work gives, or fails with {@link Expired} and cancels the work when the time is over. */
    <T> CompletableFuture<T> race(CompletableFuture<T> work) {
        CompletableFuture<T> first = new CompletableFuture<>();
        work.whenComplete((value, error) -> {
            if (error == null) {
                first.complete(value);
            } else {
                first.completeExceptionally(error);
            }
        });
        if (!first.isDone()) {
            expiry.thenRun(() -> {
                if (first.completeExceptionally(new Expired())) {
                    work.cancel(true);
                }
            });
        }
        return first;
    }

    /** Waits, or until the deadline. */
    CompletableFuture<Void> pause(long nanos) {
        CompletableFuture<Void> pause = new CompletableFuture<>();
        CompletableFuture<Void> timed = new CompletableFuture<Void>().completeOnTimeout(null, nanos, TimeUnit.NANOSECONDS);
        timed.thenRun(() -> onExecutor(() -> pause.complete(null)));
        return race(pause);
    }

    /** Ends the timer of a call that has ended. */
    void close() {
        timer.complete(false);
    }

    /** Ends all work of the call now. */
    void expire() {
        timer.complete(false);
        expiry.complete(null);
    }

    private void onExecutor(Runnable work) {
        try {
            executor.execute(work);
        } catch (RejectedExecutionException closed) {
            work.run();
        }
    }
}
