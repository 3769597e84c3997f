package dev.portcullis.client;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Allows that were answered a short time ago, by all that was sent and the credential. */
final class AllowCache {
    /** What an allow is found by. */
    record Key(Credential credential, String body) {}

    private record Entry(Decision decision, long end) {}

    private final long ttl;
    private final int most;
    // In the order of their arrival: the first one is the oldest.
    private final Map<Key, Entry> entries = new LinkedHashMap<>();
    private Revision revision = Revision.NONE;

    AllowCache(Cache options) {
        this.ttl = options.ttl().toNanos();
        this.most = options.maxEntries();
    }

    /** Returns an allow that is at least as new as `demanded`. */
    synchronized @Nullable Decision get(Key key, Revision demanded) {
        Entry entry = revision.reaches(demanded) ? entries.get(key) : null;
        if (entry == null) {
            return null;
        }
        if (entry.end - System.nanoTime() > 0) {
            return entry.decision.kept();
        }
        entries.remove(key);
        return null;
    }

    /** Keeps an allow, unless other answers have made it old meanwhile. */
    synchronized void put(Key key, Decision decision) {
        if (decision.revision() != null && Revision.parse(decision.revision()).differs(revision)) {
            return;
        }
        entries.remove(key);
        if (entries.size() >= most) {
            entries.remove(entries.keySet().iterator().next());
        }
        entries.put(key, new Entry(decision, System.nanoTime() + ttl));
    }

    /** Drops everything if an answer has another revision than the entries. */
    synchronized void answered(Revision of) {
        if (revision.differs(of)) {
            entries.clear();
        }
        revision = of.orElse(revision);
    }

    /** Drops everything. */
    synchronized void clear() {
        entries.clear();
        revision = Revision.NONE;
    }
}
