package dev.portcullis.client;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The deadline of a call that no thread waits for: a timer ends it. */
final class TimedDeadline extends Deadline {
    private final Executor executor;
    // True where the time is over, false where the call has ended before.
    private final CompletableFuture<Boolean> timer = new CompletableFuture<>();
    private final CompletableFuture<Void> expiry = new CompletableFuture<>();

    TimedDeadline(Duration timeout, Executor executor) {
        super(timeout);
        this.executor = executor;
        timer.completeOnTimeout(true, this.timeout, TimeUnit.NANOSECONDS);
        // The thread of the timer serves the whole process: nothing of the caller may run there.
        timer.thenAccept(isOver -> {
            if (isOver) {
                onExecutor(this::expire);
            }
        });
    }

    @Override
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

    @Override
    CompletableFuture<Void> pause(long nanos) {
        CompletableFuture<Void> pause = new CompletableFuture<>();
        CompletableFuture<Void> timed = new CompletableFuture<Void>().completeOnTimeout(null, nanos, TimeUnit.NANOSECONDS);
        timed.thenRun(() -> onExecutor(() -> pause.complete(null)));
        return race(pause);
    }

    @Override
    CompletableFuture<Answer> send(HttpClient http, @Nullable String host, HttpRequest.Builder request) {
        return race(http.sendAsync(request.build(), BoundedBody::of))
                .thenApply(whole -> new Answer(whole.statusCode(), whole.headers(), whole.body(), 0));
    }

    @Override
    void close() {
        timer.complete(false);
    }

    @Override
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
