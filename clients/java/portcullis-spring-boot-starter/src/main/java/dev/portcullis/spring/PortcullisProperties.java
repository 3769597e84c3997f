package dev.portcullis.spring;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The options of Portcullis.
 *
 * @param url the address of the service
 * @param serviceKey the service key of the application
 * @param domain the domain of checks that have none
 * @param timeout the deadline of each call
 * @param connectTimeout the time in which a connection must be there
 * @param maxAttempts the most attempts of a call
 * @param retryBudget the further attempts that each call adds to the budget
 * @param onUnavailable what counts where there is no decision
 * @param exposeReason whether the answer to a denied request has its rule and reason
 * @param cache the cache of allows
 * @param interceptor the check of handlers
 * @param registration the registration of resources
 */
@ConfigurationProperties("portcullis")
public record PortcullisProperties(
        @Nullable String url,
        @Nullable String serviceKey,
        @Nullable String domain,
        @DefaultValue("1s") Duration timeout,
        @DefaultValue("250ms") Duration connectTimeout,
        @DefaultValue("3") int maxAttempts,
        @DefaultValue("0.1") double retryBudget,
        @DefaultValue("throw") Unavailable onUnavailable,
        @DefaultValue("false") boolean exposeReason,
        @DefaultValue Cache cache,
        @DefaultValue Interceptor interceptor,
        @DefaultValue Registration registration) {

    /** What counts where there is no decision. */
    public enum Unavailable {
        /** An exception, which becomes a 503. */
        THROW,
        /** A denial. */
        DENY
    }

    /**
     * The cache of allows.
     *
     * @param ttl how long an allow is kept, at most 5 s; without it there is no cache
     */
    public record Cache(@Nullable Duration ttl) {}

    /**
     * The check of handlers with {@link ProtectedResource}.
     *
     * @param enabled whether they are checked
     */
    public record Interceptor(@DefaultValue("true") boolean enabled) {}

    /**
     * The registration of resources.
     *
     * @param enabled whether they are registered
     * @param serviceName the name of the service; that of the application, if absent
     * @param clientId the id of the client of the identity provider; {@code ADMIN_CLIENT_ID}, if absent
     * @param clientSecret its secret; {@code ADMIN_CLIENT_SECRET}, if absent
     * @param tokenUri the address of the token endpoint; that of {@code AUTH_SERVER_URL} or of the issuer, if absent
     * @param failFast whether a failure ends the start
     */
    public record Registration(
            @DefaultValue("true") boolean enabled,
            @Nullable String serviceName,
            @Nullable String clientId,
            @Nullable String clientSecret,
            @Nullable String tokenUri,
            @DefaultValue("false") boolean failFast) {

        @Override
        public String toString() {
            return "Registration[serviceName=" + serviceName + ", clientId=" + clientId + ", tokenUri=" + tokenUri + "]";
        }
    }

    @Override
    public String toString() {
        return "PortcullisProperties[url=" + url + ", domain=" + domain + ", registration=" + registration + "]";
    }

    /** Returns a builder of a client, without its credential. */
    dev.portcullis.client.Portcullis.Builder builder() {
        if (url == null) {
            throw new IllegalStateException("expected the property `portcullis.url`");
        }
        return dev.portcullis.client.Portcullis.builder()
                .url(url)
                .timeout(timeout)
                .connectTimeout(connectTimeout)
                .maxAttempts(maxAttempts)
                .retryBudget(retryBudget);
    }
}
