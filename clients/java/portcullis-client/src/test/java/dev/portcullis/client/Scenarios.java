package dev.portcullis.client;

import java.lang.reflect.RecordComponent;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * Runs the scenarios that all clients share, by the methods that wait and by those that do not. Prints
 * {@code java: N of M scenarios}, and the same for {@code java async}.
 */
public final class Scenarios {
    private static final String BASE = Objects.requireNonNull(System.getenv("FAKE_URL"), "FAKE_URL is missing: run clients/run java");
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final ExecutorService THREADS = Executors.newCachedThreadPool();

    private final boolean isAsync;
    private final String file;
    private final List<String> faults = new ArrayList<>();

    private Scenarios(boolean isAsync, String file) {
        this.isAsync = isAsync;
        this.file = file;
    }

    public static void main(String[] arguments) {
        boolean allPass = run("java", false) & run("java async", true);
        System.exit(allPass ? 0 : 1);
    }

    private static boolean run(String name, boolean isAsync) {
        List<?> files = (List<?>) ask("GET", "/scenarios");
        int passed = 0;
        for (Object file : files) {
            List<String> faults = new Scenarios(isAsync, (String) file).faults();
            passed += faults.isEmpty() ? 1 : 0;
            faults.forEach(fault -> System.err.println(name + " " + file + ": " + fault));
        }
        System.out.println(name + ": " + passed + " of " + files.size() + " scenarios");
        return passed == files.size();
    }

    private static Object ask(String method, String path) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create(BASE + path)).method(method, HttpRequest.BodyPublishers.noBody()).build();
            byte[] body = HTTP.send(request, HttpResponse.BodyHandlers.ofByteArray()).body();
            return body.length == 0 ? null : JsonReader.read(body);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private List<String> faults() {
        Map<String, Object> scenario = Json.object(ask("GET", "/scenarios/" + file));
        ask("DELETE", "/seen/" + file);
        try (Portcullis client = client(members(scenario, "client"))) {
            int number = 0;
            for (Object step : Json.array(scenario.get("steps"))) {
                String at = "step " + number++ + ": ";
                step(client, Json.object(step)).forEach(fault -> faults.add(at + fault));
            }
        }
        Json.array(verdict().get("faults")).forEach(fault -> faults.add((String) fault));
        return faults;
    }

    private Map<String, Object> verdict() {
        return Json.object(ask("GET", "/verdict/" + file));
    }

    private static Map<String, Object> members(Map<String, Object> of, String name) {
        return of.containsKey(name) ? Json.object(of.get(name)) : Map.of();
    }

    private Portcullis client(Map<String, Object> of) {
        String url = BASE + "/s/" + file;
        Portcullis.Builder builder = Portcullis.builder().url(url);
        credential(builder, of, url);
        of.forEach((name, value) -> {
            switch (name) {
                case "domain" -> builder.domain((String) value);
                case "timeout_ms" -> builder.timeout(millis(value));
                case "connect_timeout_ms" -> builder.connectTimeout(millis(value));
                case "max_attempts" -> builder.maxAttempts(((Number) value).intValue());
                case "retry_budget" -> builder.retryBudget(((Number) value).doubleValue());
                case "on_unavailable" -> builder.onUnavailable(onUnavailable(value));
                case "cache" -> builder.cache(cache(Json.object(value)));
                case "service_key", "token", "token_provider", "client_credentials" -> { }
                default -> throw new IllegalStateException("unknown option " + name);
            }
        });
        return builder.build();
    }

    private static void credential(Portcullis.Builder builder, Map<String, Object> of, String url) {
        if (of.containsKey("token")) {
            builder.token((String) of.get("token"));
        } else if (of.containsKey("token_provider")) {
            Deque<Object> tokens = new ArrayDeque<>(Json.array(of.get("token_provider")));
            builder.tokenProvider(() -> (String) (tokens.size() > 1 ? tokens.pop() : tokens.peek()));
        } else if (of.containsKey("client_credentials")) {
            Map<String, Object> client = members(of, "client_credentials");
            builder.clientCredentials(
                    new ClientCredentials(url + "/token", (String) client.get("client_id"), (String) client.get("client_secret"), null));
        } else {
            builder.serviceKey((String) of.getOrDefault("service_key", "key"));
        }
    }

    private static Duration millis(Object of) {
        return Duration.ofMillis(((Number) of).longValue());
    }

    private static Cache cache(Map<String, Object> of) {
        Cache cache = Cache.of(millis(of.get("ttl_ms")));
        return of.containsKey("max_entries") ? new Cache(cache.ttl(), ((Number) of.get("max_entries")).intValue()) : cache;
    }

    private static OnUnavailable onUnavailable(Object of) {
        return switch ((String) of) {
            case "throw" -> OnUnavailable.THROW;
            case "deny" -> OnUnavailable.DENY;
            default -> OnUnavailable.decide(failure -> true);
        };
    }

    private static CallOptions options(Map<String, Object> of) {
        CallOptions options = CallOptions.defaults();
        for (Map.Entry<String, Object> option : of.entrySet()) {
            Object value = option.getValue();
            options = switch (option.getKey()) {
                case "timeout_ms" -> options.timeout(millis(value));
                case "revision" -> options.revision((String) value);
                case "on_unavailable" -> options.onUnavailable(onUnavailable(value));
                case "credential" -> options.credential(credential(Json.object(value)));
                default -> throw new IllegalStateException("unknown option " + option.getKey());
            };
        }
        return options;
    }

    private static Credential credential(Map<String, Object> of) {
        return of.containsKey("token") ? Credential.token((String) of.get("token")) : Credential.serviceKey((String) of.get("service_key"));
    }

    private List<String> step(Portcullis client, Map<String, Object> step) {
        List<String> found = new ArrayList<>();
        long times = (long) step.getOrDefault("times", 1L);
        long atOnce = (long) step.getOrDefault("at_once", 1L);
        for (int time = 0; time < times; time += 1) {
            List<CompletableFuture<List<String>>> together = new ArrayList<>();
            for (int each = 0; each < atOnce; each += 1) {
                together.add(callAndCompare(client, step));
            }
            together.forEach(one -> found.addAll(one.join()));
        }
        return found;
    }

    private CompletableFuture<List<String>> callAndCompare(Portcullis client, Map<String, Object> step) {
        String name = (String) step.get("call");
        Map<String, Object> with = members(step, "with");
        CallOptions options = options(members(step, "options"));
        long start = System.nanoTime();
        CompletableFuture<?> made = isAsync
                ? asyncCall(client, name, with, options)
                : CompletableFuture.supplyAsync(() -> call(client, name, with, options), THREADS);
        return made.handleAsync((value, error) -> {
            double took = (System.nanoTime() - start) / 1e6;
            Map<String, Object> got = error == null ? outcome(value) : outcomeOfError(Calls.unwrap(error));
            return compare(got, took, members(step, "expect"));
        }, THREADS);
    }

    /** Makes the call of a step, and waits. */
    private static Object call(Portcullis client, String name, Map<String, Object> of, CallOptions options) {
        String type = (String) of.get("type");
        String id = (String) of.get("id");
        return switch (name) {
            case "check" -> client.check(check(of), options);
            case "require" -> client.require(check(of), options);
            case "checks" -> client.checks(checks(of), options);
            case "access_check" -> client.accessCheck((String) of.get("resource"), (String) of.get("subject"), options);
            case "permissions" -> client.permissions((String) of.get("subject"), options);
            case "search_resources" -> client.searchResources(of, options);
            case "search_subjects" -> client.searchSubjects(of, options);
            case "search_actions" -> client.searchActions(of, options);
            case "plan" -> client.plan(of, options);
            case "put_entity" -> client.putEntity(type, id, members(of, "body"), options);
            case "patch_entity" -> client.patchEntity(type, id, members(of, "body"), options);
            case "delete_entity" -> {
                client.deleteEntity(type, id, options);
                yield null;
            }
            case "write_relations" -> client.writeRelations(relations(of, "write"), relations(of, "delete"), options);
            case "register_resources" -> client.registerResources(resources(of), options);
            case "request" -> client.request((String) of.get("method"), (String) of.get("path"), of.get("body"), options);
            case "revision" -> client.revision();
            default -> throw new IllegalStateException("no call " + name);
        };
    }

    /** Makes the call of a step, without waiting. */
    private static CompletableFuture<?> asyncCall(Portcullis client, String name, Map<String, Object> of, CallOptions options) {
        String type = (String) of.get("type");
        String id = (String) of.get("id");
        return switch (name) {
            case "check" -> client.checkAsync(check(of), options);
            case "require" -> client.requireAsync(check(of), options);
            case "checks" -> client.checksAsync(checks(of), options);
            case "access_check" -> client.accessCheckAsync((String) of.get("resource"), (String) of.get("subject"), options);
            case "permissions" -> client.permissionsAsync((String) of.get("subject"), options);
            case "search_resources" -> client.searchResourcesAsync(of, options);
            case "search_subjects" -> client.searchSubjectsAsync(of, options);
            case "search_actions" -> client.searchActionsAsync(of, options);
            case "plan" -> client.planAsync(of, options);
            case "put_entity" -> client.putEntityAsync(type, id, members(of, "body"), options);
            case "patch_entity" -> client.patchEntityAsync(type, id, members(of, "body"), options);
            case "delete_entity" -> client.deleteEntityAsync(type, id, options);
            case "write_relations" -> client.writeRelationsAsync(relations(of, "write"), relations(of, "delete"), options);
            case "register_resources" -> client.registerResourcesAsync(resources(of), options);
            case "request" -> client.requestAsync((String) of.get("method"), (String) of.get("path"), of.get("body"), options);
            case "revision" -> CompletableFuture.completedFuture(client.revision());
            default -> throw new IllegalStateException("no call " + name);
        };
    }

    private static Check check(Map<String, Object> of) {
        Check check = Check.of((String) of.get("subject"), (String) of.get("resource"))
                .action((String) of.get("action"))
                .domain((String) of.get("domain"))
                .expected((String) of.get("expected"))
                .relations(relations(of, "relations"));
        for (Map.Entry<String, Object> namespace : members(of, "attributes").entrySet()) {
            for (Map.Entry<String, Object> value : Json.object(namespace.getValue()).entrySet()) {
                check = check.attribute(namespace.getKey() + "." + value.getKey(), value.getValue());
            }
        }
        return check;
    }

    private static List<Check> checks(Map<String, Object> of) {
        List<Check> checks = new ArrayList<>();
        Json.array(of.get("checks")).forEach(check -> checks.add(check(Json.object(check))));
        return checks;
    }

    private static List<Relation> relations(Map<String, Object> of, String name) {
        List<Relation> relations = new ArrayList<>();
        for (Object item : (List<?>) of.getOrDefault(name, List.of())) {
            Map<String, Object> tuple = Json.object(item);
            relations.add(Relation.of((String) tuple.get("object"), (String) tuple.get("relation"), (String) tuple.get("subject")));
        }
        return relations;
    }

    private static List<Resource> resources(Map<String, Object> of) {
        List<Resource> resources = new ArrayList<>();
        for (Object item : Json.array(of.get("resources"))) {
            Map<String, Object> one = Json.object(item);
            List<String> roles = new ArrayList<>();
            ((List<?>) one.getOrDefault("defaultRoles", List.of())).forEach(role -> roles.add((String) role));
            resources.add(new Resource(
                    (String) one.get("name"), (String) one.get("displayName"), (String) one.get("serviceName"), roles));
        }
        return resources;
    }

    private static Map<String, Object> outcome(Object value) {
        Map<String, Object> got = new LinkedHashMap<>();
        if (value instanceof Decision decision) {
            got.putAll(shownRecord(decision));
            got.put("outcome", decision.allowed() ? "allowed" : "denied");
            got.put("raised", false);
        } else if (value instanceof List<?>) {
            got.put("outcome", "list");
            got.put("items", shown(value));
        } else {
            got.put("outcome", "value");
            got.put("value", shown(value));
        }
        return got;
    }

    private static Map<String, Object> outcomeOfError(Throwable error) {
        Map<String, Object> got = new LinkedHashMap<>();
        if (error instanceof DeniedException denial) {
            got.putAll(outcome(denial.decision()));
            got.put("raised", true);
        } else if (error instanceof UnavailableException failure) {
            got.put("outcome", "unavailable");
            got.put("kind", failure.kind().toString());
            got.put("attempts", (long) failure.attempts());
            got.put("status", failure.status() == null ? null : failure.status().longValue());
            got.put("retry_after_ms", failure.retryAfter() == null ? null : failure.retryAfter().toMillis());
        } else if (error instanceof RejectedException refusal) {
            got.put("outcome", "rejected");
            got.put("status", (long) refusal.status());
            got.put("code", refusal.code());
            got.put("message", refusal.getMessage());
            got.put("attempts", (long) refusal.attempts());
            got.put("details", refusal.details());
            got.put("request_id", refusal.requestId());
        } else {
            got.put("outcome", error.toString());
        }
        return got;
    }

    /** Returns records as maps with names in snake_case. */
    private static Object shown(Object value) {
        if (value instanceof Record of) {
            return shownRecord(of);
        }
        if (value instanceof Collection<?> items) {
            return items.stream().map(Scenarios::shown).toList();
        }
        return value instanceof Integer number ? (Object) number.longValue() : value;
    }

    private static Map<String, Object> shownRecord(Record of) {
        Map<String, Object> members = new LinkedHashMap<>();
        for (RecordComponent component : of.getClass().getRecordComponents()) {
            String name = component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
            try {
                members.put(name, shown(component.getAccessor().invoke(of)));
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        }
        return members;
    }

    private List<String> compare(Map<String, Object> got, double took, Map<String, Object> expect) {
        List<String> found = new ArrayList<>();
        expect.forEach((name, value) -> {
            Supplier<String> fault = switch (name) {
                case "min_ms" -> () -> took < (long) value ? "took " + took + " ms, expected at least " + value : null;
                case "max_ms" -> () -> took > (long) value ? "took " + took + " ms, expected at most " + value : null;
                case "tokens" -> () -> fault("tokens", value, verdict().get("tokens"));
                case "one_request_id" -> this::requestIdFault;
                default -> () -> fault(name, value, got.get(name));
            };
            if (fault.get() != null) {
                found.add(fault.get());
            }
        });
        return found;
    }

    private static String fault(String name, Object expected, Object got) {
        return has(got, expected) ? null : name + ": expected " + expected + ", got " + got;
    }

    private String requestIdFault() {
        Set<Object> ids = new HashSet<>();
        for (Object seen : Json.array(ask("GET", "/seen/" + file))) {
            Map<String, Object> headers = members(Json.object(seen), "headers");
            ids.add(headers.get("x-request-id"));
            if (!String.valueOf(headers.get("user-agent")).startsWith("portcullis-java/")) {
                return "no user agent";
            }
        }
        return ids.size() == 1 && !ids.contains(null) ? null : "not one request id";
    }

    /** Returns whether `whole` has everything of `part`. */
    private static boolean has(Object whole, Object part) {
        if (part instanceof Map<?, ?> members) {
            return whole instanceof Map<?, ?> all
                    && members.entrySet().stream().allMatch(member -> has(all.get(member.getKey()), member.getValue()));
        }
        if (part instanceof List<?> items) {
            if (!(whole instanceof List<?> all) || all.size() != items.size()) {
                return false;
            }
            for (int at = 0; at < items.size(); at += 1) {
                if (!has(all.get(at), items.get(at))) {
                    return false;
                }
            }
            return true;
        }
        return Objects.equals(whole, part);
    }
}
