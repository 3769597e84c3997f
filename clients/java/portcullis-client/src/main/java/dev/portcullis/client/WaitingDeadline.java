package dev.portcullis.client;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The deadline of a call whose thread waits for it: everything is done by that thread, and all that is returned has ended. The HTTP
 * client of the JDK takes less than half of the time for it, since no other thread begins or ends an exchange.
 */
final class WaitingDeadline extends Deadline {
    private final Addresses addresses;

    WaitingDeadline(Duration timeout, Addresses addresses) {
        super(timeout);
        this.addresses = addresses;
    }

    @Override
    <T> CompletableFuture<T> race(CompletableFuture<T> work) {
        if (work.isDone()) {
            return work;
        }
        try {
            return CompletableFuture.completedFuture(work.get(left(), TimeUnit.NANOSECONDS));
        } catch (ExecutionException failure) {
            return CompletableFuture.failedFuture(failure.getCause());
        } catch (TimeoutException late) {
            work.cancel(true);
            return CompletableFuture.failedFuture(new Expired());
        } catch (InterruptedException interrupt) {
            work.cancel(true);
            return interrupted();
        }
    }

    @Override
    CompletableFuture<Void> pause(long nanos) {
        try {
            TimeUnit.NANOSECONDS.sleep(Math.min(nanos, left()));
        } catch (InterruptedException interrupt) {
            return interrupted();
        }
        return left() > 0 ? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(new Expired());
    }

    @Override
    CompletableFuture<Answer> send(HttpClient http, @Nullable String host, HttpRequest.Builder request) {
        // The look-up of a name has no timeout of its own.
        return race(addresses.known(host)).thenCompose(known -> exchange(http, request));
    }

    private CompletableFuture<Answer> exchange(HttpClient http, HttpRequest.Builder request) {
        long left = left();
        if (left <= 0) {
            return CompletableFuture.failedFuture(new Expired());
        }
        try {
            // The timeout ends with the head, so that the body is waited for here.
            HttpResponse<BoundedBody> head = http.send(request.timeout(Duration.ofNanos(left)).build(), BoundedBody::begun);
            BoundedBody body = head.body();
            CompletableFuture<byte[]> whole = race(body.getBody());
            if (whole.isCompletedExceptionally()) {
                body.cancel();
            }
            return whole.thenApply(bytes -> new Answer(head.statusCode(), head.headers(), bytes, 0));
        } catch (InterruptedException interrupt) {
            return interrupted();
        } catch (HttpConnectTimeoutException late) {
            return CompletableFuture.failedFuture(late);
        } catch (HttpTimeoutException late) {
            return CompletableFuture.failedFuture(new Expired());
        } catch (IOException | RuntimeException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    private static <T> CompletableFuture<T> interrupted() {
        Thread.currentThread().interrupt();
        return CompletableFuture.failedFuture(
                new CancellationException("the thread was interrupted while it waited for Portcullis"));
    }

    @Override
    void close() {}

    @Override
    void expire() {}
}
