package dev.portcullis.spring;

import dev.portcullis.client.CallOptions;
import dev.portcullis.client.ClientCredentials;
import dev.portcullis.client.Portcullis;
import dev.portcullis.client.PortcullisException;
import dev.portcullis.client.Resource;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Registers the resources of handlers with {@link ProtectedResource} at the start. */
final class ResourceRegistration implements SmartLifecycle {
    private static final Log LOG = LogFactory.getLog(ResourceRegistration.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final long FIRST_WAIT = 1;
    // With the time of a call that is 10 s from one attempt to the next.
    private static final long LONGEST_WAIT = 5;
    private static final String TOKEN_PATH = "/protocol/openid-connect/token";

    private final PortcullisProperties properties;
    private final Environment environment;
    private final ObjectProvider<RequestMappingHandlerMapping> mappings;
    private @Nullable ScheduledExecutorService background;
    private @Nullable Portcullis client;

    ResourceRegistration(
            PortcullisProperties properties, Environment environment, ObjectProvider<RequestMappingHandlerMapping> mappings) {
        this.properties = properties;
        this.environment = environment;
        this.mappings = mappings;
    }

    /** Returns a phase before that of the application's own server. */
    @Override
    public int getPhase() {
        return Integer.MAX_VALUE - 8192;
    }

    @Override
    public synchronized void start() {
        List<Resource> resources = resources();
        ClientCredentials credentials = resources.isEmpty() ? null : credentials();
        if (credentials == null) {
            return;
        }
        Portcullis made = properties.builder().timeout(TIMEOUT).clientCredentials(credentials).build();
        client = made;
        try {
            made.registerResources(resources);
        } catch (PortcullisException error) {
            if (properties.registration().failFast()) {
                stop();
                throw error;
            }
            LOG.warn("The resources are not registered yet: " + error.getMessage());
            background = Executors.newSingleThreadScheduledExecutor(ResourceRegistration::thread);
            again(made, resources, background, FIRST_WAIT);
        }
    }

    @Override
    public synchronized void stop() {
        if (background != null) {
            background.shutdownNow();
            background = null;
        }
        if (client != null) {
            client.close();
            client = null;
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return client != null;
    }

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(work, "portcullis-registration");
        thread.setDaemon(true);
        return thread;
    }

    private static void again(Portcullis client, List<Resource> resources, ScheduledExecutorService background, long wait) {
        background.schedule(() -> {
            try {
                client.registerResources(resources, CallOptions.defaults());
                LOG.info("The resources are registered.");
            } catch (RuntimeException error) {
                LOG.warn("The resources are not registered yet: " + error.getMessage());
                if (!background.isShutdown()) {
                    again(client, resources, background, Math.min(LONGEST_WAIT, 2 * wait));
                }
            }
        }, wait, TimeUnit.SECONDS);
    }

    /** Returns the resources of all handlers, each name once. */
    private List<Resource> resources() {
        String serviceName = orElse(properties.registration().serviceName(), "spring.application.name");
        Map<String, Resource> found = new LinkedHashMap<>();
        mappings.stream().flatMap(mapping -> mapping.getHandlerMethods().values().stream()).forEach(handler -> {
            ProtectedResource of = handler.getMethodAnnotation(ProtectedResource.class);
            if (of != null) {
                String displayName = of.displayName().isEmpty() ? null : of.displayName();
                found.putIfAbsent(of.name(), new Resource(of.name(), displayName, serviceName, List.of(of.defaultRoles())));
            }
        });
        return List.copyOf(found.values());
    }

    /** Returns the credentials of the registration; null, and says so, where they are not complete. */
    private @Nullable ClientCredentials credentials() {
        PortcullisProperties.Registration given = properties.registration();
        String tokenUri = given.tokenUri();
        if (!StringUtils.hasText(tokenUri)) {
            String server = orElse(orElse(null, "AUTH_SERVER_URL"), "spring.security.oauth2.resourceserver.jwt.issuer-uri");
            tokenUri = server == null ? null : server.replaceAll("/+$", "") + TOKEN_PATH;
        }
        String clientId = orElse(given.clientId(), "ADMIN_CLIENT_ID");
        String clientSecret = orElse(given.clientSecret(), "ADMIN_CLIENT_SECRET");
        if (tokenUri == null || clientId == null || clientSecret == null) {
            LOG.warn("The resources are not registered: the token address, the client id or the client secret is missing "
                    + "(portcullis.registration.token-uri, .client-id, .client-secret).");
            return null;
        }
        return new ClientCredentials(tokenUri, clientId, clientSecret, null);
    }

    private @Nullable String orElse(@Nullable String given, String property) {
        String value = StringUtils.hasText(given) ? given : environment.getProperty(property);
        return StringUtils.hasText(value) ? value : null;
    }
}
