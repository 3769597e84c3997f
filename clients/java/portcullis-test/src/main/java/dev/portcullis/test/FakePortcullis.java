package dev.portcullis.test;

import dev.portcullis.client.CallOptions;
import dev.portcullis.client.Check;
import dev.portcullis.client.Decision;
import dev.portcullis.client.DeniedException;
import dev.portcullis.client.Kind;
import dev.portcullis.client.Permission;
import dev.portcullis.client.Plan;
import dev.portcullis.client.Portcullis;
import dev.portcullis.client.Relation;
import dev.portcullis.client.RelationCounts;
import dev.portcullis.client.Resource;
import dev.portcullis.client.Response;
import dev.portcullis.client.SearchPage;
import dev.portcullis.client.UnavailableException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides as a test says, and denies everything else. Checks, batches and the legacy check (without a subject that of nobody) are
 * answered; other operations are not, and fail with an {@code UnsupportedOperationException}.
 */
public final class FakePortcullis implements Portcullis {
    private enum Answer {
        ALLOW,
        DENY,
        UNAVAILABLE
    }

    private record Entry(String resource, @Nullable String subject, Answer answer) {
        private boolean fits(Check check) {
            return resource.equals(check.resource()) && (subject == null || subject.equals(check.subject()));
        }
    }

    private final List<Entry> entries = new CopyOnWriteArrayList<>();
    private final List<Check> calls = new CopyOnWriteArrayList<>();

    /** Allows a resource for all. */
    public FakePortcullis allow(String resource) {
        return add(resource, null, Answer.ALLOW);
    }

    /** Allows a resource for a subject. */
    public FakePortcullis allow(String resource, String subject) {
        return add(resource, subject, Answer.ALLOW);
    }

    /** Denies a resource for all. */
    public FakePortcullis deny(String resource) {
        return add(resource, null, Answer.DENY);
    }

    /** Denies a resource for a subject. */
    public FakePortcullis deny(String resource, String subject) {
        return add(resource, subject, Answer.DENY);
    }

    /** Makes checks of a resource fail as they do in an outage. */
    public FakePortcullis unavailable(String resource) {
        return add(resource, null, Answer.UNAVAILABLE);
    }

    /** Makes checks of a resource for a subject fail as they do in an outage. */
    public FakePortcullis unavailable(String resource, String subject) {
        return add(resource, subject, Answer.UNAVAILABLE);
    }

    /** Returns the checks so far. */
    public List<Check> calls() {
        return List.copyOf(calls);
    }

    @Override
    public CompletableFuture<Decision> checkAsync(Check check, CallOptions options) {
        return made(() -> decide(check));
    }

    @Override
    public CompletableFuture<Decision> requireAsync(Check check, CallOptions options) {
        return made(() -> {
            Decision decision = decide(check);
            if (!decision.allowed()) {
                throw new DeniedException(decision);
            }
            return decision;
        });
    }

    @Override
    public CompletableFuture<List<Decision>> checksAsync(List<Check> checks, CallOptions options) {
        return made(() -> checks.stream().map(this::decide).toList());
    }

    @Override
    public CompletableFuture<Decision> accessCheckAsync(String resource, @Nullable String subject, CallOptions options) {
        return made(() -> decide(Check.of(subject == null ? "" : subject, resource)));
    }

    @Override
    public CompletableFuture<List<Permission>> permissionsAsync(@Nullable String subject, CallOptions options) {
        return unsupported("permissions");
    }

    @Override
    public CompletableFuture<SearchPage> searchResourcesAsync(Map<String, ?> body, CallOptions options) {
        return unsupported("searchResources");
    }

    @Override
    public CompletableFuture<SearchPage> searchSubjectsAsync(Map<String, ?> body, CallOptions options) {
        return unsupported("searchSubjects");
    }

    @Override
    public CompletableFuture<SearchPage> searchActionsAsync(Map<String, ?> body, CallOptions options) {
        return unsupported("searchActions");
    }

    @Override
    public CompletableFuture<Plan> planAsync(Map<String, ?> body, CallOptions options) {
        return unsupported("plan");
    }

    @Override
    public CompletableFuture<Map<String, Object>> putEntityAsync(String type, String id, Map<String, ?> body, CallOptions options) {
        return unsupported("putEntity");
    }

    @Override
    public CompletableFuture<Map<String, Object>> patchEntityAsync(String type, String id, Map<String, ?> body, CallOptions options) {
        return unsupported("patchEntity");
    }

    @Override
    public CompletableFuture<@Nullable Void> deleteEntityAsync(String type, String id, CallOptions options) {
        return unsupported("deleteEntity");
    }

    @Override
    public CompletableFuture<RelationCounts> writeRelationsAsync(List<Relation> write, List<Relation> delete, CallOptions options) {
        return unsupported("writeRelations");
    }

    @Override
    public CompletableFuture<List<Map<String, Object>>> registerResourcesAsync(List<Resource> resources, CallOptions options) {
        return unsupported("registerResources");
    }

    @Override
    public CompletableFuture<Response> requestAsync(String method, String path, @Nullable Object body, CallOptions options) {
        return unsupported("request");
    }

    /** Returns an empty revision: nothing is written. */
    @Override
    public String revision() {
        return "/";
    }

    @Override
    public void close() {}

    private FakePortcullis add(String resource, @Nullable String subject, Answer answer) {
        // The last entry that fits counts.
        entries.add(0, new Entry(resource, subject, answer));
        return this;
    }

    private Decision decide(Check check) {
        calls.add(check);
        Answer answer = entries.stream().filter(entry -> entry.fits(check)).map(Entry::answer).findFirst().orElse(Answer.DENY);
        if (answer == Answer.UNAVAILABLE) {
            throw new UnavailableException(Kind.CONNECT, "the test says so", 1);
        }
        boolean allowed = answer == Answer.ALLOW;
        return new Decision(allowed, allowed ? "fake" : "default-deny", "the test says so", null, null, null, 1, false);
    }

    private static <T> CompletableFuture<T> made(Supplier<T> work) {
        try {
            return CompletableFuture.completedFuture(work.get());
        } catch (RuntimeException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    private static <T extends @Nullable Object> CompletableFuture<T> unsupported(String operation) {
        return CompletableFuture.failedFuture(new UnsupportedOperationException("FakePortcullis has no `" + operation + "`"));
    }
}
