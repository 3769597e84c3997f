package dev.portcullis.client;

import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The client of a service over HTTP. */
final class HttpPortcullis implements Portcullis {
    /** The most checks of one batch. */
    private static final int MOST_CHECKS = 10_000;

    private static final System.Logger LOG = System.getLogger(Portcullis.class.getName());

    private final ExecutorService executor;
    private final Addresses addresses;
    private final Transport transport;
    private final Credential credential;
    private final @Nullable String domain;
    private final Duration timeout;
    private final OnUnavailable onUnavailable;
    private final @Nullable AllowCache cache;
    private final @Nullable Observer observer;
    private final AtomicReference<Revision> revision = new AtomicReference<>(Revision.NONE);
    private final Object lock = new Object();
    // Calls that have begun and not ended.
    private int open;
    private boolean isClosed;

    HttpPortcullis(ClientOptions options) {
        String url = options.address();
        executor = Executors.newCachedThreadPool(work -> {
            Thread thread = new Thread(work, "portcullis");
            thread.setDaemon(true);
            return thread;
        });
        addresses = new Addresses(executor);
        HttpClient http = HttpClient.newBuilder()
                .executor(executor)
                .connectTimeout(options.connectTimeout)
                // A redirect could lead the credential elsewhere.
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
        transport = new Transport(http, url, options.maxAttempts, options.retryBudget);
        credential = options.credential(transport, executor);
        domain = options.domain;
        timeout = options.timeout;
        onUnavailable = options.onUnavailable;
        cache = options.cache == null ? null : new AllowCache(options.cache);
        observer = options.observer;
    }

    @Override
    public CompletableFuture<Decision> checkAsync(Check check, CallOptions options) {
        return new Session<Decision>("check", options).run(session -> checked(session, check), UnaryOperator.identity(), one -> one);
    }

    @Override
    public CompletableFuture<Decision> requireAsync(Check check, CallOptions options) {
        return new Session<Decision>("require", options).run(session -> checked(session, check), HttpPortcullis::allowed, one -> one);
    }

    @Override
    public CompletableFuture<List<Decision>> checksAsync(List<Check> checks, CallOptions options) {
        List<Check> all = List.copyOf(checks);
        return new Session<List<Decision>>("checks", options)
                .run(session -> batch(session, all), UnaryOperator.identity(), one -> Collections.nCopies(all.size(), one));
    }

    @Override
    public CompletableFuture<Decision> accessCheckAsync(String resource, @Nullable String subject, CallOptions options) {
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("resource", resource);
        Json.putPresent(body, "subject", subject);
        return new Session<Decision>("access_check", options)
                .run(
                        session -> session.exchange(Call.read("/api/v1/resources/access/check", body, Answers::legacyDecision)),
                        UnaryOperator.identity(),
                        one -> one);
    }

    @Override
    public CompletableFuture<List<Permission>> permissionsAsync(@Nullable String subject, CallOptions options) {
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        Json.putPresent(body, "subject", subject);
        return new Session<List<Permission>>("permissions", options)
                .run(session -> pages(session, "/api/v1/permissions", body, new ArrayList<>()));
    }

    @Override
    public CompletableFuture<SearchPage> searchResourcesAsync(Map<String, ?> body, CallOptions options) {
        return search("resources", body, options);
    }

    @Override
    public CompletableFuture<SearchPage> searchSubjectsAsync(Map<String, ?> body, CallOptions options) {
        return search("subjects", body, options);
    }

    @Override
    public CompletableFuture<SearchPage> searchActionsAsync(Map<String, ?> body, CallOptions options) {
        return search("actions", body, options);
    }

    @Override
    public CompletableFuture<Plan> planAsync(Map<String, ?> body, CallOptions options) {
        return new Session<Plan>("plan", options).run(session -> session.exchange(Call.read("/api/v1/plan", body, Answers::plan)));
    }

    @Override
    public CompletableFuture<Map<String, Object>> putEntityAsync(String type, String id, Map<String, ?> body, CallOptions options) {
        return new Session<Map<String, Object>>("put_entity", options)
                .run(session -> session.exchange(Call.write("PUT", entityPath(type, id), body, Answers::record)));
    }

    @Override
    public CompletableFuture<Map<String, Object>> patchEntityAsync(String type, String id, Map<String, ?> body, CallOptions options) {
        return new Session<Map<String, Object>>("patch_entity", options)
                .run(session -> session.exchange(Call.write("PATCH", entityPath(type, id), body, Answers::record)));
    }

    @Override
    public CompletableFuture<@Nullable Void> deleteEntityAsync(String type, String id, CallOptions options) {
        return new Session<@Nullable Void>("delete_entity", options).run(session -> {
            Call<@Nullable Void> call = Call.write("DELETE", entityPath(type, id), null, answer -> null);
            return session.exchange(call).exceptionallyCompose(HttpPortcullis::doneBefore);
        });
    }

    @Override
    public CompletableFuture<RelationCounts> writeRelationsAsync(List<Relation> write, List<Relation> delete, CallOptions options) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("write", write.stream().map(Relation::body).toList());
        body.put("delete", delete.stream().map(Relation::body).toList());
        return new Session<RelationCounts>("write_relations", options)
                .run(session -> session.exchange(Call.write("POST", "/api/v1/relations", body, Answers::counts)));
    }

    @Override
    public CompletableFuture<List<Map<String, Object>>> registerResourcesAsync(List<Resource> resources, CallOptions options) {
        List<?> body = resources.stream().map(HttpPortcullis::body).toList();
        return new Session<List<Map<String, Object>>>("register_resources", options)
                .run(session -> session.exchange(Call.write("POST", "/api/v1/resources/list", body, Answers::records)));
    }

    @Override
    public CompletableFuture<Response> requestAsync(String method, String path, @Nullable Object body, CallOptions options) {
        boolean isGet = method.equals("GET");
        return new Session<Response>("request", options).run(session -> {
            if (!path.startsWith("/")) {
                throw RejectedException.unsendable("expected a path that begins with `/`");
            }
            String text = body == null ? null : Json.write(body);
            return session.exchange(new Call<>(method, path, text, isGet, false, !isGet, Answers::any));
        });
    }

    @Override
    public String revision() {
        return revision.get().toString();
    }

    @Override
    public void close() {
        synchronized (lock) {
            isClosed = true;
            endIfIdle();
        }
    }

    private void begin() {
        synchronized (lock) {
            if (isClosed) {
                throw RejectedException.unsendable("the client is closed");
            }
            open += 1;
        }
    }

    private void end() {
        synchronized (lock) {
            open -= 1;
            endIfIdle();
        }
    }

    /** Ends the threads. Calls that go on need them: without them, not even their deadline would come. */
    private void endIfIdle() {
        if (isClosed && open == 0) {
            executor.shutdown();
        }
    }

    private CompletableFuture<SearchPage> search(String what, Map<String, ?> body, CallOptions options) {
        return new Session<SearchPage>("search_" + what, options)
                .run(session -> session.exchange(Call.read("/api/v1/search/" + what, body, Answers::searchPage)));
    }

    /** Decides a check by the cache or the service. */
    private CompletableFuture<Decision> checked(Session<Decision> session, Check check) {
        Call<Decision> call = Call.read("/api/v1/check", check.body(domain), Answers::decision);
        if (cache == null) {
            return session.exchange(call);
        }
        AllowCache.Key key = new AllowCache.Key(session.credential, String.valueOf(call.body()));
        Decision kept = cache.get(key, session.demanded());
        if (kept != null) {
            return CompletableFuture.completedFuture(kept);
        }
        return session.exchange(call).thenApply(decision -> {
            if (decision.allowed()) {
                cache.put(key, decision);
            }
            return decision;
        });
    }

    private CompletableFuture<List<Decision>> batch(Session<List<Decision>> session, List<Check> checks) {
        if (checks.size() > MOST_CHECKS) {
            throw RejectedException.unsendable("expected at most " + MOST_CHECKS + " checks, got " + checks.size());
        }
        if (checks.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        Map<String, ?> body = Map.of("checks", checks.stream().map(check -> check.body(domain)).toList());
        return session.exchange(Call.read("/api/v1/checks", body, answer -> Answers.decisions(answer, checks.size())));
    }

    /** Adds a page of permissions to those that are found, and goes on to the next one. */
    private CompletableFuture<List<Permission>> pages(
            Session<List<Permission>> session, String path, Map<String, ?> body, List<Permission> found) {
        Call<@Nullable String> call = Call.read(path, body, answer -> {
            found.addAll(Answers.permissions(answer));
            return Answers.nextCursor(answer);
        });
        return session.exchange(call)
                .thenCompose(cursor -> cursor == null
                        ? CompletableFuture.completedFuture(Collections.unmodifiableList(found))
                        : pages(session, "/api/v1/permissions?cursor=" + cursor, body, found));
    }

    private static Decision allowed(Decision decision) {
        if (!decision.allowed()) {
            throw new DeniedException(decision);
        }
        return decision;
    }

    /** Takes a 404 of a further attempt as done: an earlier one may have deleted the entity. */
    private static CompletableFuture<@Nullable Void> doneBefore(Throwable error) {
        boolean isDone = Calls.unwrap(error) instanceof RejectedException refusal && refusal.status() == 404 && refusal.attempts() > 1;
        return isDone ? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(error);
    }

    private static Map<String, ?> body(Resource of) {
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("name", of.name());
        Json.putPresent(body, "displayName", of.displayName());
        Json.putPresent(body, "serviceName", of.serviceName());
        Json.putPresent(body, "defaultRoles", of.defaultRoles().isEmpty() ? null : of.defaultRoles());
        return body;
    }

    /** Returns the path of an entity. Segments of dots would lead elsewhere. */
    private static String entityPath(String type, String id) {
        return "/api/v1/entities/" + segment("type", type) + "/" + segment("id", id);
    }

    private static String segment(String name, String value) {
        if (value.isEmpty() || value.equals(".") || value.equals("..")) {
            throw RejectedException.unsendable("`" + value + "` cannot be the " + name + " of an entity");
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(value)) {
            throw RejectedException.unsendable("the " + name + " of an entity has a half of a pair of surrogates");
        }
        // Forms are escaped alike, but for these.
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
    }

    /**
     * A request and how its answer is read.
     *
     * @param body the JSON, if there is a body
     * @param repeats whether it may be sent again
     * @param reads whether it takes {@code X-Min-…}
     * @param writes whether its answer has the revision of an own write
     * @param read reads the answer, and throws a {@link JsonException} for what is not one of the service
     */
    private record Call<V extends @Nullable Object>(
            String method,
            String path,
            @Nullable String body,
            boolean repeats,
            boolean reads,
            boolean writes,
            Function<Answer, V> read) {

        static <V extends @Nullable Object> Call<V> read(String path, Object body, Function<Answer, V> read) {
            return new Call<>("POST", path, Json.write(body), true, true, false, read);
        }

        static <V extends @Nullable Object> Call<V> write(
                String method, String path, @Nullable Object body, Function<Answer, V> read) {
            return new Call<>(method, path, body == null ? null : Json.write(body), true, false, true, read);
        }
    }

    /** A call of an operation, from its begin to its end. */
    private final class Session<V extends @Nullable Object> {
        private final CallOptions options;
        private final Deadline deadline;
        private final Credential credential;
        private final Observer.@Nullable Observation observation;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private boolean hasBegun;

        Session(String operation, CallOptions options) {
            this.options = options;
            Duration own = options.timeout();
            Duration given = own == null ? timeout : own;
            this.deadline = options.isWaitedFor() ? new WaitingDeadline(given, addresses) : new TimedDeadline(given, executor);
            Credential other = options.credential();
            this.credential = other == null ? HttpPortcullis.this.credential : other;
            this.observation = observed(operation);
            headers.put("accept", "application/json");
            headers.put("x-request-id", UUID.randomUUID().toString());
            headers.put("user-agent", "portcullis-java/" + Version.VERSION);
        }

        /** Does the work of a call that gives no decision. */
        CompletableFuture<V> run(Function<Session<V>, CompletableFuture<V>> work) {
            return run(work, UnaryOperator.identity(), null);
        }

        /**
         * Does the work of a call.
         *
         * @param finish makes of the value what the caller gets, or throws
         * @param instead makes a value of what counts where there is no decision
         */
        CompletableFuture<V> run(
                Function<Session<V>, CompletableFuture<V>> work, UnaryOperator<V> finish, @Nullable Function<Decision, V> instead) {
            CompletableFuture<V> result = new CompletableFuture<>();
            begun(work).whenComplete((value, error) -> {
                deadline.close();
                if (hasBegun) {
                    end();
                }
                Throwable failure = error == null ? null : Calls.unwrap(error);
                tell(result.isCancelled() ? Outcome.ABORTED : outcome(value, failure));
                try {
                    result.complete(finish.apply(failure == null ? value : substitute(failure, instead)));
                } catch (Throwable thrown) {
                    result.completeExceptionally(thrown);
                }
            });
            result.whenComplete((value, error) -> {
                if (result.isCancelled()) {
                    deadline.expire();
                }
            });
            return result;
        }

        /** Sends a call and reads its answer. */
        <T extends @Nullable Object> CompletableFuture<T> exchange(Call<T> call) {
            Map<String, String> all = new LinkedHashMap<>(headers);
            if (call.body() != null) {
                all.put("content-type", "application/json");
            }
            if (call.reads()) {
                Revision demanded = demanded();
                putPresent(all, "x-min-policy-revision", demanded.policy());
                putPresent(all, "x-min-entities-revision", demanded.entities());
            }
            Request request = new Request(call.method(), call.path(), call.body(), all, call.repeats());
            return transport.send(request, credential, deadline).handle((answer, error) -> {
                if (error != null) {
                    throw failed(Calls.unwrap(error));
                }
                return read(call, answer);
            });
        }

        /** Returns the revisions that an answer must not be older than. */
        Revision demanded() {
            String own = options.revision();
            return own == null ? revision.get() : revision.get().highest(Revision.parse(own));
        }

        private CompletableFuture<V> begun(Function<Session<V>, CompletableFuture<V>> work) {
            try {
                begin();
                hasBegun = true;
                return work.apply(this);
            } catch (RuntimeException error) {
                return CompletableFuture.failedFuture(error);
            }
        }

        private <T extends @Nullable Object> T read(Call<T> call, Answer answer) {
            Revision answered = Revision.answered(answer.headers());
            if (call.writes()) {
                revision.accumulateAndGet(answered, Revision::highest);
            }
            if (cache != null) {
                cache.answered(answered);
            }
            try {
                return call.read().apply(answer);
            } catch (JsonException error) {
                String message = "the answer is not one of the service: " + error.getMessage();
                throw new UnavailableException(Kind.ANSWER, message, answer.attempts(), answer.status(), null, null);
            }
        }

        private RuntimeException failed(Throwable error) {
            if (error instanceof LostRevision lost) {
                revision.updateAndGet(lost::replaceIn);
                if (cache != null) {
                    cache.clear();
                }
            }
            return error instanceof RuntimeException failure ? failure : new IllegalStateException(error);
        }

        /** Returns what counts in place of a failure, or throws it. */
        private V substitute(Throwable failure, @Nullable Function<Decision, V> instead) throws Throwable {
            if (instead == null || !(failure instanceof UnavailableException unavailable)) {
                throw failure;
            }
            OnUnavailable own = options.onUnavailable();
            boolean isAllowed = (own == null ? onUnavailable : own).isAllowed(unavailable);
            String reason = unavailable.getMessage();
            return instead.apply(new Decision(isAllowed, null, reason, null, null, null, unavailable.attempts(), true));
        }

        private Observer.@Nullable Observation observed(String operation) {
            if (observer == null) {
                return null;
            }
            try {
                Observer.Observation started = observer.start(operation);
                headers.putAll(started.headers());
                return started;
            } catch (RuntimeException error) {
                LOG.log(System.Logger.Level.WARNING, "the observer fails", error);
                return null;
            }
        }

        private void tell(Outcome outcome) {
            if (observation == null) {
                return;
            }
            try {
                observation.end(outcome);
            } catch (RuntimeException error) {
                LOG.log(System.Logger.Level.WARNING, "the observer fails", error);
            }
        }
    }

    private static void putPresent(Map<String, String> headers, String name, @Nullable Long value) {
        if (value != null) {
            headers.put(name, value.toString());
        }
    }

    private static Outcome outcome(@Nullable Object value, @Nullable Throwable failure) {
        if (failure instanceof CancellationException) {
            return Outcome.ABORTED;
        }
        if (failure != null) {
            return failure instanceof RejectedException ? Outcome.REJECTED : Outcome.UNAVAILABLE;
        }
        if (value instanceof Decision decision) {
            return decision.allowed() ? Outcome.ALLOWED : Outcome.DENIED;
        }
        return Outcome.OK;
    }
}
