package dev.portcullis.client;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** What stands between futures and the threads that wait for them. */
final class Calls {
    private Calls() {}

    /** Waits for a call. Throws its failure, as the waiting thread's own. An interrupt cancels the call. */
    static <T> T await(CompletableFuture<T> call) {
        try {
            return call.get();
        } catch (InterruptedException interrupt) {
            call.cancel(true);
            Thread.currentThread().interrupt();
            throw new CancellationException("the thread was interrupted while it waited for Portcullis");
        } catch (ExecutionException failure) {
            throw thrown(failure.getCause());
        }
    }

    /** Returns the failure itself, without what futures put around it. */
    static Throwable unwrap(Throwable error) {
        Throwable inner = error;
        while (inner instanceof CompletionException && inner.getCause() != null) {
            inner = inner.getCause();
        }
        return inner;
    }

    private static RuntimeException thrown(Throwable failure) {
        if (failure instanceof PortcullisException own) {
            // Made on a thread of the client: the trace of the caller says more.
            own.fillInStackTrace();
            return own;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException error ? error : new IllegalStateException(failure);
    }
}
