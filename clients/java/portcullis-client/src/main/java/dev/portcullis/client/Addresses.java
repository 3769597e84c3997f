package dev.portcullis.client;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The names of hosts that were looked up a short time ago, so that the JVM has their addresses. */
final class Addresses {
    /** The JVM keeps an address for 30 s. */
    private static final long KEPT = TimeUnit.SECONDS.toNanos(20);

    private final Executor executor;
    private final Map<String, Long> lookedUp = new ConcurrentHashMap<>();

    Addresses(Executor executor) {
        this.executor = executor;
    }

    /** Looks a host up in another thread, unless that was done a short time ago. */
    CompletableFuture<Boolean> known(@Nullable String host) {
        Long before = host == null ? null : lookedUp.get(host);
        boolean isKnown = host == null || before != null && System.nanoTime() - before < KEPT;
        return isKnown ? CompletableFuture.completedFuture(true) : CompletableFuture.supplyAsync(() -> lookUp(host), executor);
    }

    private boolean lookUp(String host) {
        try {
            InetAddress.getAllByName(host);
        } catch (UnknownHostException unknown) {
            throw new CompletionException(unknown);
        }
        lookedUp.put(host, System.nanoTime());
        return true;
    }
}
