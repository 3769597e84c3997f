package dev.portcullis.client;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A token that is got when it is needed, once for all who wait. */
final class RenewedCredential extends Credential {
    /** Tokens are renewed so long before their end. */
    private static final long RENEWED_BEFORE = 30_000_000_000L;

    /**
     * A token.
     *
     * @param header its header
     * @param expires whether it has an end
     * @param end the time of its end, by the monotonic clock
     */
    record Token(Header header, boolean expires, long end) {
        private boolean isFresh() {
            return !expires || end - RENEWED_BEFORE - System.nanoTime() > 0;
        }
    }

    /** There is no token to be had. The message has no part of a credential. */
    static final class NoToken extends RuntimeException {
        private static final long serialVersionUID = 1;
        /** Whether a further attempt may get one. */
        final boolean isTransient;
        /** The time that the token endpoint asked to wait, if it did. */
        final @Nullable Duration retryAfter;

        NoToken(String message) {
            this(message, false, null);
        }

        NoToken(String message, boolean isTransient, @Nullable Duration retryAfter) {
            super(message);
            this.isTransient = isTransient;
            this.retryAfter = retryAfter;
        }
    }

    private final Function<Deadline, CompletableFuture<Token>> source;
    private @Nullable Token token;
    private @Nullable CompletableFuture<Token> flight;

    RenewedCredential(Function<Deadline, CompletableFuture<Token>> source) {
        this.source = source;
    }

    @Override
    CompletableFuture<Header> header(Deadline deadline) {
        CompletableFuture<Token> mine = new CompletableFuture<>();
        CompletableFuture<Token> others;
        synchronized (this) {
            if (token != null && token.isFresh()) {
                return CompletableFuture.completedFuture(token.header());
            }
            others = flight;
            flight = others == null ? mine : others;
        }
        // Outside of the lock: it waits, and runs what the caller gave.
        if (others != null) {
            return joined(others, deadline);
        }
        begun(deadline).whenComplete((got, error) -> landed(mine, got, error));
        return mine.thenApply(Token::header);
    }

    @Override
    synchronized boolean renew(Header refused) {
        // Another call may have a new one already.
        if (token != null && token.header().equals(refused)) {
            token = null;
        }
        return true;
    }

    @Override
    public String toString() {
        return "Credential[authorization, renewed]";
    }

    private CompletableFuture<Token> begun(Deadline deadline) {
        try {
            return source.apply(deadline);
        } catch (RuntimeException error) {
            return CompletableFuture.failedFuture(error);
        }
    }

    /** Returns the header of another call's flight, or of an own one where the other call's deadline or interrupt has ended that. */
    private CompletableFuture<Header> joined(CompletableFuture<Token> flight, Deadline deadline) {
        // Whose thread waits goes on by that one: the other call's thread has its own deadline, and may be interrupted.
        return deadline.race(flight.copy()).thenApply(Token::header).exceptionallyCompose(error -> {
            Throwable cause = Calls.unwrap(error);
            boolean isOthers = flight.isDone() && (cause instanceof Deadline.Expired || cause instanceof CancellationException);
            return isOthers && deadline.left() > 0 ? header(deadline) : CompletableFuture.failedFuture(error);
        });
    }

    private void landed(CompletableFuture<Token> landed, @Nullable Token got, @Nullable Throwable error) {
        synchronized (this) {
            flight = null;
            if (got != null) {
                token = got;
            }
        }
        if (error == null) {
            landed.complete(got);
        } else {
            landed.completeExceptionally(error);
        }
    }
}
