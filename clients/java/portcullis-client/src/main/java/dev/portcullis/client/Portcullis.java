package dev.portcullis.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A client of one service. It may be shared by all threads.
 *
 * <p>Each call ends by its deadline. It throws an {@link UnavailableException} where there is no decision, and a
 * {@link RejectedException} where the service refuses the request. The methods that end in {@code Async} do not wait: their futures
 * fail with the same exceptions, and a future that is cancelled cancels the call.
 */
public interface Portcullis extends AutoCloseable {
    /** Begins a client. */
    static Builder builder() {
        return new ClientOptions();
    }

    /** Returns the highest revisions of the client's own writes, {@code <policy>/<entities>}. */
    String revision();

    /** Takes no call any more, and ends the threads of the client with the last call that is under way. */
    @Override
    void close();

    /** Asks whether the subject may do the action on the resource. A denial is a value. */
    default Decision check(Check check, CallOptions options) {
        return Calls.await(checkAsync(check, options.waitedFor()));
    }

    /** As {@link #check(Check, CallOptions)}, with the options of the client. */
    default Decision check(Check check) {
        return check(check, CallOptions.defaults());
    }

    /** As {@link #check(Check, CallOptions)}, without waiting. */
    CompletableFuture<Decision> checkAsync(Check check, CallOptions options);

    /** As {@link #check(Check, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<Decision> checkAsync(Check check) {
        return checkAsync(check, CallOptions.defaults());
    }

    /** Returns an allow; throws a {@link DeniedException} for a denial. */
    default Decision require(Check check, CallOptions options) {
        return Calls.await(requireAsync(check, options.waitedFor()));
    }

    /** As {@link #require(Check, CallOptions)}, with the options of the client. */
    default Decision require(Check check) {
        return require(check, CallOptions.defaults());
    }

    /** As {@link #require(Check, CallOptions)}, without waiting. */
    CompletableFuture<Decision> requireAsync(Check check, CallOptions options);

    /** As {@link #require(Check, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<Decision> requireAsync(Check check) {
        return requireAsync(check, CallOptions.defaults());
    }

    /** Decides up to 10,000 checks by the rules of one revision, in order. */
    default List<Decision> checks(List<Check> checks, CallOptions options) {
        return Calls.await(checksAsync(checks, options.waitedFor()));
    }

    /** As {@link #checks(List, CallOptions)}, with the options of the client. */
    default List<Decision> checks(List<Check> checks) {
        return checks(checks, CallOptions.defaults());
    }

    /** As {@link #checks(List, CallOptions)}, without waiting. */
    CompletableFuture<List<Decision>> checksAsync(List<Check> checks, CallOptions options);

    /** As {@link #checks(List, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<List<Decision>> checksAsync(List<Check> checks) {
        return checksAsync(checks, CallOptions.defaults());
    }

    /** Asks by the route of the legacy check; without a subject about the caller. */
    default Decision accessCheck(String resource, @Nullable String subject, CallOptions options) {
        return Calls.await(accessCheckAsync(resource, subject, options.waitedFor()));
    }

    /** As {@link #accessCheck(String, String, CallOptions)}, with the options of the client. */
    default Decision accessCheck(String resource, @Nullable String subject) {
        return accessCheck(resource, subject, CallOptions.defaults());
    }

    /** As {@link #accessCheck(String, String, CallOptions)}, without waiting. */
    CompletableFuture<Decision> accessCheckAsync(String resource, @Nullable String subject, CallOptions options);

    /** As {@link #accessCheck(String, String, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<Decision> accessCheckAsync(String resource, @Nullable String subject) {
        return accessCheckAsync(resource, subject, CallOptions.defaults());
    }

    /** As {@link #accessCheck(String, String, CallOptions)}, about the caller. */
    default Decision accessCheck(String resource, CallOptions options) {
        return accessCheck(resource, null, options);
    }

    /** As {@link #accessCheck(String, String, CallOptions)}, about the caller, with the options of the client. */
    default Decision accessCheck(String resource) {
        return accessCheck(resource, null, CallOptions.defaults());
    }

    /** As {@link #accessCheck(String, String, CallOptions)}, about the caller, without waiting. */
    default CompletableFuture<Decision> accessCheckAsync(String resource, CallOptions options) {
        return accessCheckAsync(resource, null, options);
    }

    /** As {@link #accessCheck(String, String, CallOptions)}, about the caller, without waiting, with the options of the client. */
    default CompletableFuture<Decision> accessCheckAsync(String resource) {
        return accessCheckAsync(resource, null, CallOptions.defaults());
    }

    /** Lists what a subject (without one the caller) may do on each registered resource, from all pages. */
    default List<Permission> permissions(@Nullable String subject, CallOptions options) {
        return Calls.await(permissionsAsync(subject, options.waitedFor()));
    }

    /** As {@link #permissions(String, CallOptions)}, with the options of the client. */
    default List<Permission> permissions(@Nullable String subject) {
        return permissions(subject, CallOptions.defaults());
    }

    /** As {@link #permissions(String, CallOptions)}, without waiting. */
    CompletableFuture<List<Permission>> permissionsAsync(@Nullable String subject, CallOptions options);

    /** As {@link #permissions(String, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<List<Permission>> permissionsAsync(@Nullable String subject) {
        return permissionsAsync(subject, CallOptions.defaults());
    }

    /** As {@link #permissions(String, CallOptions)}, of the caller. */
    default List<Permission> permissions(CallOptions options) {
        return permissions(null, options);
    }

    /** As {@link #permissions(String, CallOptions)}, of the caller, with the options of the client. */
    default List<Permission> permissions() {
        return permissions(null, CallOptions.defaults());
    }

    /** As {@link #permissions(String, CallOptions)}, of the caller, without waiting. */
    default CompletableFuture<List<Permission>> permissionsAsync(CallOptions options) {
        return permissionsAsync(null, options);
    }

    /** As {@link #permissions(String, CallOptions)}, of the caller, without waiting, with the options of the client. */
    default CompletableFuture<List<Permission>> permissionsAsync() {
        return permissionsAsync(null, CallOptions.defaults());
    }

    /** Searches for the resources that a subject may act on. */
    default SearchPage searchResources(Map<String, ?> body, CallOptions options) {
        return Calls.await(searchResourcesAsync(body, options.waitedFor()));
    }

    /** As {@link #searchResources(Map, CallOptions)}, with the options of the client. */
    default SearchPage searchResources(Map<String, ?> body) {
        return searchResources(body, CallOptions.defaults());
    }

    /** As {@link #searchResources(Map, CallOptions)}, without waiting. */
    CompletableFuture<SearchPage> searchResourcesAsync(Map<String, ?> body, CallOptions options);

    /** As {@link #searchResources(Map, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<SearchPage> searchResourcesAsync(Map<String, ?> body) {
        return searchResourcesAsync(body, CallOptions.defaults());
    }

    /** Searches for the subjects that may act on a resource. */
    default SearchPage searchSubjects(Map<String, ?> body, CallOptions options) {
        return Calls.await(searchSubjectsAsync(body, options.waitedFor()));
    }

    /** As {@link #searchSubjects(Map, CallOptions)}, with the options of the client. */
    default SearchPage searchSubjects(Map<String, ?> body) {
        return searchSubjects(body, CallOptions.defaults());
    }

    /** As {@link #searchSubjects(Map, CallOptions)}, without waiting. */
    CompletableFuture<SearchPage> searchSubjectsAsync(Map<String, ?> body, CallOptions options);

    /** As {@link #searchSubjects(Map, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<SearchPage> searchSubjectsAsync(Map<String, ?> body) {
        return searchSubjectsAsync(body, CallOptions.defaults());
    }

    /** Searches for the actions that a subject may do. */
    default SearchPage searchActions(Map<String, ?> body, CallOptions options) {
        return Calls.await(searchActionsAsync(body, options.waitedFor()));
    }

    /** As {@link #searchActions(Map, CallOptions)}, with the options of the client. */
    default SearchPage searchActions(Map<String, ?> body) {
        return searchActions(body, CallOptions.defaults());
    }

    /** As {@link #searchActions(Map, CallOptions)}, without waiting. */
    CompletableFuture<SearchPage> searchActionsAsync(Map<String, ?> body, CallOptions options);

    /** As {@link #searchActions(Map, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<SearchPage> searchActionsAsync(Map<String, ?> body) {
        return searchActionsAsync(body, CallOptions.defaults());
    }

    /** Returns the condition of an action as SQL, for rows of the caller's own database. */
    default Plan plan(Map<String, ?> body, CallOptions options) {
        return Calls.await(planAsync(body, options.waitedFor()));
    }

    /** As {@link #plan(Map, CallOptions)}, with the options of the client. */
    default Plan plan(Map<String, ?> body) {
        return plan(body, CallOptions.defaults());
    }

    /** As {@link #plan(Map, CallOptions)}, without waiting. */
    CompletableFuture<Plan> planAsync(Map<String, ?> body, CallOptions options);

    /** As {@link #plan(Map, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<Plan> planAsync(Map<String, ?> body) {
        return planAsync(body, CallOptions.defaults());
    }

    /** Creates or replaces an entity, and returns its record. */
    default Map<String, Object> putEntity(String type, String id, Map<String, ?> body, CallOptions options) {
        return Calls.await(putEntityAsync(type, id, body, options.waitedFor()));
    }

    /** As {@link #putEntity(String, String, Map, CallOptions)}, with the options of the client. */
    default Map<String, Object> putEntity(String type, String id, Map<String, ?> body) {
        return putEntity(type, id, body, CallOptions.defaults());
    }

    /** As {@link #putEntity(String, String, Map, CallOptions)}, without waiting. */
    CompletableFuture<Map<String, Object>> putEntityAsync(String type, String id, Map<String, ?> body, CallOptions options);

    /** As {@link #putEntity(String, String, Map, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<Map<String, Object>> putEntityAsync(String type, String id, Map<String, ?> body) {
        return putEntityAsync(type, id, body, CallOptions.defaults());
    }

    /** Changes an entity, and returns its record. */
    default Map<String, Object> patchEntity(String type, String id, Map<String, ?> body, CallOptions options) {
        return Calls.await(patchEntityAsync(type, id, body, options.waitedFor()));
    }

    /** As {@link #patchEntity(String, String, Map, CallOptions)}, with the options of the client. */
    default Map<String, Object> patchEntity(String type, String id, Map<String, ?> body) {
        return patchEntity(type, id, body, CallOptions.defaults());
    }

    /** As {@link #patchEntity(String, String, Map, CallOptions)}, without waiting. */
    CompletableFuture<Map<String, Object>> patchEntityAsync(String type, String id, Map<String, ?> body, CallOptions options);

    /** As {@link #patchEntity(String, String, Map, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<Map<String, Object>> patchEntityAsync(String type, String id, Map<String, ?> body) {
        return patchEntityAsync(type, id, body, CallOptions.defaults());
    }

    /** Deletes an entity. */
    default void deleteEntity(String type, String id, CallOptions options) {
        Calls.await(deleteEntityAsync(type, id, options.waitedFor()));
    }

    /** As {@link #deleteEntity(String, String, CallOptions)}, with the options of the client. */
    default void deleteEntity(String type, String id) {
        deleteEntity(type, id, CallOptions.defaults());
    }

    /** As {@link #deleteEntity(String, String, CallOptions)}, without waiting. */
    CompletableFuture<@Nullable Void> deleteEntityAsync(String type, String id, CallOptions options);

    /** As {@link #deleteEntity(String, String, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<@Nullable Void> deleteEntityAsync(String type, String id) {
        return deleteEntityAsync(type, id, CallOptions.defaults());
    }

    /** Writes and deletes tuples, all or none. */
    default RelationCounts writeRelations(List<Relation> write, List<Relation> delete, CallOptions options) {
        return Calls.await(writeRelationsAsync(write, delete, options.waitedFor()));
    }

    /** As {@link #writeRelations(List, List, CallOptions)}, with the options of the client. */
    default RelationCounts writeRelations(List<Relation> write, List<Relation> delete) {
        return writeRelations(write, delete, CallOptions.defaults());
    }

    /** As {@link #writeRelations(List, List, CallOptions)}, without waiting. */
    CompletableFuture<RelationCounts> writeRelationsAsync(List<Relation> write, List<Relation> delete, CallOptions options);

    /** As {@link #writeRelations(List, List, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<RelationCounts> writeRelationsAsync(List<Relation> write, List<Relation> delete) {
        return writeRelationsAsync(write, delete, CallOptions.defaults());
    }

    /** Registers resources, as a service does at its start, and returns their records. */
    default List<Map<String, Object>> registerResources(List<Resource> resources, CallOptions options) {
        return Calls.await(registerResourcesAsync(resources, options.waitedFor()));
    }

    /** As {@link #registerResources(List, CallOptions)}, with the options of the client. */
    default List<Map<String, Object>> registerResources(List<Resource> resources) {
        return registerResources(resources, CallOptions.defaults());
    }

    /** As {@link #registerResources(List, CallOptions)}, without waiting. */
    CompletableFuture<List<Map<String, Object>>> registerResourcesAsync(List<Resource> resources, CallOptions options);

    /** As {@link #registerResources(List, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<List<Map<String, Object>>> registerResourcesAsync(List<Resource> resources) {
        return registerResourcesAsync(resources, CallOptions.defaults());
    }

    /** Sends a request with a body of JSON, or none, to any route. Only a {@code GET} is tried again. */
    default Response request(String method, String path, @Nullable Object body, CallOptions options) {
        return Calls.await(requestAsync(method, path, body, options.waitedFor()));
    }

    /** As {@link #request(String, String, Object, CallOptions)}, with the options of the client. */
    default Response request(String method, String path, @Nullable Object body) {
        return request(method, path, body, CallOptions.defaults());
    }

    /** As {@link #request(String, String, Object, CallOptions)}, without waiting. */
    CompletableFuture<Response> requestAsync(String method, String path, @Nullable Object body, CallOptions options);

    /** As {@link #request(String, String, Object, CallOptions)}, without waiting, with the options of the client. */
    default CompletableFuture<Response> requestAsync(String method, String path, @Nullable Object body) {
        return requestAsync(method, path, body, CallOptions.defaults());
    }

    /** As {@link #request(String, String, Object, CallOptions)}, without a body. */
    default Response request(String method, String path, CallOptions options) {
        return request(method, path, null, options);
    }

    /** As {@link #request(String, String, Object, CallOptions)}, without a body, with the options of the client. */
    default Response request(String method, String path) {
        return request(method, path, null, CallOptions.defaults());
    }

    /** As {@link #request(String, String, Object, CallOptions)}, without a body, without waiting. */
    default CompletableFuture<Response> requestAsync(String method, String path, CallOptions options) {
        return requestAsync(method, path, null, options);
    }

    /** As {@link #request(String, String, Object, CallOptions)}, without a body, without waiting, with the options of the client. */
    default CompletableFuture<Response> requestAsync(String method, String path) {
        return requestAsync(method, path, null, CallOptions.defaults());
    }

    /** Options of a client. */
    interface Builder {
        /** Sets the address of the service; without it, it is that of the environment variable {@code PORTCULLIS_URL}. */
        Builder url(String value);

        /** Sets a service key; without any credential, it is that of {@code PORTCULLIS_SERVICE_KEY}. */
        Builder serviceKey(String value);

        /** Sets a token. */
        Builder token(String value);

        /** Sets a function that gives a token. It is asked again when the service refuses one. */
        Builder tokenProvider(Supplier<String> value);

        /** Sets the way to get tokens by the grant {@code client_credentials}. */
        Builder clientCredentials(ClientCredentials value);

        /** Sets the domain of checks that have none. */
        Builder domain(String value);

        /** Sets the deadline of each call, over tokens, waits and all attempts (1 s). */
        Builder timeout(Duration value);

        /** Sets the time in which a connection must be there (250 ms). */
        Builder connectTimeout(Duration value);

        /** Sets the most attempts of a call (3). */
        Builder maxAttempts(int value);

        /** Sets the further attempts that each call adds to the budget (0.1). */
        Builder retryBudget(double value);

        /** Sets what counts where there is no decision ({@link OnUnavailable#THROW}). */
        Builder onUnavailable(OnUnavailable value);

        /** Keeps allows for a short time. */
        Builder cache(Cache value);

        /** Sets who is told about each call. */
        Builder observer(Observer value);

        /** Makes the client. Throws an {@code IllegalArgumentException} for options that cannot be. */
        Portcullis build();
    }
}
