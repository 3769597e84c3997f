package dev.portcullis.client;

import java.time.Duration;

/**
 * Keeps allows for a short time.
 *
 * @param ttl how long an allow is kept: at most 5 s
 * @param maxEntries how many allows are kept
 */
public record Cache(Duration ttl, int maxEntries) {
    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final int MOST_ENTRIES = 10_000;

    public Cache {
        if (ttl.isNegative() || ttl.isZero() || ttl.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("expected a `ttl` above 0 and up to 5 s");
        }
        if (maxEntries < 1) {
            throw new IllegalArgumentException("expected `maxEntries` above 0");
        }
    }

    /** Returns a cache of up to 10,000 allows. */
    public static Cache of(Duration ttl) {
        return new Cache(ttl, MOST_ENTRIES);
    }
}
