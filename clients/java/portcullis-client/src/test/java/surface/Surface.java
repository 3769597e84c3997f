package surface;

import dev.portcullis.client.Cache;
import dev.portcullis.client.CallOptions;
import dev.portcullis.client.Check;
import dev.portcullis.client.ClientCredentials;
import dev.portcullis.client.Credential;
import dev.portcullis.client.Decision;
import dev.portcullis.client.DeniedException;
import dev.portcullis.client.Found;
import dev.portcullis.client.Kind;
import dev.portcullis.client.Observer;
import dev.portcullis.client.OnUnavailable;
import dev.portcullis.client.Permission;
import dev.portcullis.client.Plan;
import dev.portcullis.client.Portcullis;
import dev.portcullis.client.PortcullisException;
import dev.portcullis.client.RejectedException;
import dev.portcullis.client.Relation;
import dev.portcullis.client.RelationCounts;
import dev.portcullis.client.Resource;
import dev.portcullis.client.Response;
import dev.portcullis.client.SearchPage;
import dev.portcullis.client.Sql;
import dev.portcullis.client.UnavailableException;
import dev.portcullis.test.DevServer;
import dev.portcullis.test.FakePortcullis;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Names every public signature as programs of others do: that it compiles is the test. */
final class Surface {
    private static final CallOptions OPTIONS = CallOptions.defaults()
            .timeout(Duration.ofSeconds(1))
            .revision("7/3")
            .onUnavailable(OnUnavailable.DENY)
            .credential(Credential.serviceKey("k"))
            .credential(Credential.token("t"));
    private static final Check CHECK = Check.of("ann", "chart:read")
            .action("read")
            .domain("er")
            .attribute("resource.id", "c-17")
            .expected("allow")
            .relations(List.of(Relation.of("doc:1", "viewer", "user:ann")));

    private Surface() {}

    static Portcullis client(Supplier<String> tokens, Predicate<UnavailableException> decides, Observer observer) {
        Portcullis.Builder builder = Portcullis.builder().url("http://127.0.0.1:1").serviceKey("k").token("t").tokenProvider(tokens)
                .clientCredentials(new ClientCredentials("http://127.0.0.1:1/token", "id", "secret", "scope")).domain("er")
                .timeout(Duration.ofSeconds(1)).connectTimeout(Duration.ofMillis(250)).maxAttempts(3).retryBudget(0.1)
                .onUnavailable(OnUnavailable.THROW).onUnavailable(OnUnavailable.decide(decides))
                .cache(new Cache(Duration.ofSeconds(5), 10)).observer(observer);
        return builder.build();
    }

    static void calls(Portcullis client, Map<String, ?> body) throws Exception {
        List<Relation> relations = List.of(new Relation("doc:1", "viewer", "user:ann"));
        List<Resource> resources = List.of(new Resource("doc:read", "Read", "docs", List.of("clerk")));
        Decision decision = client.check(CHECK);
        decision = client.check(CHECK, OPTIONS);
        decision = client.require(CHECK);
        decision = client.require(CHECK, OPTIONS);
        List<Decision> decisions = client.checks(List.of(CHECK));
        decisions = client.checks(List.of(CHECK), OPTIONS);
        decision = client.accessCheck("chart:read");
        decision = client.accessCheck("chart:read", OPTIONS);
        decision = client.accessCheck("chart:read", "ann");
        decision = client.accessCheck("chart:read", "ann", OPTIONS);
        List<Permission> permissions = client.permissions();
        permissions = client.permissions(OPTIONS);
        permissions = client.permissions("ann");
        permissions = client.permissions("ann", OPTIONS);
        SearchPage page = client.searchResources(body);
        page = client.searchResources(body, OPTIONS);
        page = client.searchSubjects(body);
        page = client.searchSubjects(body, OPTIONS);
        page = client.searchActions(body);
        page = client.searchActions(body, OPTIONS);
        Plan plan = client.plan(body);
        plan = client.plan(body, OPTIONS);
        Map<String, Object> record = client.putEntity("doc", "1", body);
        record = client.putEntity("doc", "1", body, OPTIONS);
        record = client.patchEntity("doc", "1", body);
        record = client.patchEntity("doc", "1", body, OPTIONS);
        client.deleteEntity("doc", "1");
        client.deleteEntity("doc", "1", OPTIONS);
        RelationCounts counts = client.writeRelations(relations, List.of());
        counts = client.writeRelations(relations, List.of(), OPTIONS);
        List<Map<String, Object>> records = client.registerResources(resources);
        records = client.registerResources(resources, OPTIONS);
        Response response = client.request("GET", "/api/v1/roles", null);
        response = client.request("POST", "/api/v1/check", body, OPTIONS);
        String revision = client.revision();
        client.close();
        isUsed(decision, decisions, permissions, page, plan, record, counts, records, response, revision);
    }

    static void asyncCalls(Portcullis client, Map<String, ?> body) {
        CompletableFuture<Decision> decision = client.checkAsync(CHECK);
        decision = client.checkAsync(CHECK, OPTIONS);
        decision = client.requireAsync(CHECK);
        decision = client.requireAsync(CHECK, OPTIONS);
        CompletableFuture<List<Decision>> decisions = client.checksAsync(List.of(CHECK));
        decisions = client.checksAsync(List.of(CHECK), OPTIONS);
        decision = client.accessCheckAsync("chart:read");
        decision = client.accessCheckAsync("chart:read", OPTIONS);
        decision = client.accessCheckAsync("chart:read", "ann");
        decision = client.accessCheckAsync("chart:read", "ann", OPTIONS);
        CompletableFuture<List<Permission>> permissions = client.permissionsAsync();
        permissions = client.permissionsAsync(OPTIONS);
        permissions = client.permissionsAsync("ann");
        permissions = client.permissionsAsync("ann", OPTIONS);
        CompletableFuture<SearchPage> page = client.searchResourcesAsync(body);
        page = client.searchResourcesAsync(body, OPTIONS);
        page = client.searchSubjectsAsync(body);
        page = client.searchSubjectsAsync(body, OPTIONS);
        page = client.searchActionsAsync(body);
        page = client.searchActionsAsync(body, OPTIONS);
        CompletableFuture<Plan> plan = client.planAsync(body);
        plan = client.planAsync(body, OPTIONS);
        CompletableFuture<Map<String, Object>> record = client.putEntityAsync("doc", "1", body);
        record = client.putEntityAsync("doc", "1", body, OPTIONS);
        record = client.patchEntityAsync("doc", "1", body);
        record = client.patchEntityAsync("doc", "1", body, OPTIONS);
        CompletableFuture<Void> deleted = client.deleteEntityAsync("doc", "1");
        deleted = client.deleteEntityAsync("doc", "1", OPTIONS);
        CompletableFuture<RelationCounts> counts = client.writeRelationsAsync(List.of(), List.of());
        counts = client.writeRelationsAsync(List.of(), List.of(), OPTIONS);
        CompletableFuture<List<Map<String, Object>>> records = client.registerResourcesAsync(List.of());
        records = client.registerResourcesAsync(List.of(), OPTIONS);
        CompletableFuture<Response> response = client.requestAsync("GET", "/api/v1/roles", null);
        response = client.requestAsync("GET", "/api/v1/roles", null, OPTIONS);
        isUsed(decision, decisions, permissions, page, plan, record, deleted, counts, records, response);
    }

    static void members(
            Permission permission, SearchPage page, Plan plan, RelationCounts counts, Response response, Resource resource, Relation relation) {
        Decision decision = new Decision(true, "r1", "ok", "7/3", "d1", "q1", 1, false);
        boolean flags = decision.allowed() && decision.unavailable() && page.complete() && plan.exact();
        int attempts = decision.attempts() + response.status();
        Found found = new Found("doc", "1", "allow", "r1", List.of());
        List<Found> all = List.of(page.results().get(0), page.conditional().get(0), found);
        Sql sql = plan.sql();
        List<?> params = sql.params();
        long sum = counts.written() + counts.unchanged() + counts.deleted() + counts.absent();
        Map<String, List<String>> headers = response.headers();
        List<String> names = permission.dependsOn();
        names = found.dependsOn();
        names = resource.defaultRoles();
        Object json = response.json();
        isUsed(decision.rule(), decision.reason(), decision.revision(), decision.id(), decision.requestId(), permission.resource(),
                permission.action(), permission.decision(), page.next(), plan.kind(), sql.text(), found.type(), found.id(), found.decision(),
                found.rule(), resource.name(), resource.displayName(), resource.serviceName(), relation.object(), relation.relation(),
                relation.subject(), flags, attempts, all, params, sum, headers, names, json);
    }

    static void failures(Portcullis client) {
        try {
            client.require(CHECK);
        } catch (DeniedException denial) {
            Decision decision = denial.decision();
            isUsed(decision);
        } catch (UnavailableException failure) {
            Kind kind = failure.kind();
            int attempts = failure.attempts();
            Integer status = failure.status();
            Duration retryAfter = failure.retryAfter();
            isUsed(kind, attempts, status, retryAfter);
        } catch (RejectedException refusal) {
            int status = refusal.status();
            String code = refusal.code();
            Map<String, Object> details = refusal.details();
            int attempts = refusal.attempts();
            isUsed(status, code, refusal.getMessage(), details, refusal.requestId(), attempts);
        } catch (PortcullisException other) {
            throw other;
        }
    }

    static void doubles(Path folder) throws Exception {
        FakePortcullis fake = new FakePortcullis().allow("a:b").allow("a:b", "ann").deny("a:b").deny("a:b", "ann")
                .unavailable("a:b").unavailable("a:b", "ann");
        List<Check> calls = fake.calls();
        isUsed(calls.get(0).subject(), calls.get(0).resource(), calls.get(0).action(), calls.get(0).domain(), calls.get(0).attributes(),
                calls.get(0).expected(), calls.get(0).relations());
        try (DevServer server = DevServer.start(folder); Portcullis client = server.client("ann")) {
            String url = server.url();
            isUsed(url, client);
        }
    }

    private static void isUsed(Object... values) {
        for (Object value : values) {
            value.getClass();
        }
    }
}
