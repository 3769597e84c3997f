package dev.portcullis.client;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The options of a client. It has no text form: some are credentials. */
final class ClientOptions implements Portcullis.Builder {
    private @Nullable String url;
    private final List<String> credentials = new ArrayList<>();
    private @Nullable Credential fixed;
    private @Nullable Supplier<String> provider;
    private @Nullable ClientCredentials client;
    @Nullable String domain;
    Duration timeout = Duration.ofSeconds(1);
    Duration connectTimeout = Duration.ofMillis(250);
    int maxAttempts = 3;
    double retryBudget = 0.1;
    OnUnavailable onUnavailable = OnUnavailable.THROW;
    @Nullable Cache cache;
    @Nullable Observer observer;

    @Override
    public Portcullis.Builder url(String value) {
        url = value;
        return this;
    }

    @Override
    public Portcullis.Builder serviceKey(String value) {
        credentials.add("serviceKey");
        fixed = Credential.serviceKey(value);
        return this;
    }

    @Override
    public Portcullis.Builder token(String value) {
        credentials.add("token");
        fixed = Credential.token(value);
        return this;
    }

    @Override
    public Portcullis.Builder tokenProvider(Supplier<String> value) {
        credentials.add("tokenProvider");
        provider = value;
        return this;
    }

    @Override
    public Portcullis.Builder clientCredentials(ClientCredentials value) {
        credentials.add("clientCredentials");
        client = value;
        return this;
    }

    @Override
    public Portcullis.Builder domain(String value) {
        domain = value;
        return this;
    }

    @Override
    public Portcullis.Builder timeout(Duration value) {
        timeout = positive("timeout", value);
        return this;
    }

    @Override
    public Portcullis.Builder connectTimeout(Duration value) {
        connectTimeout = positive("connectTimeout", value);
        return this;
    }

    @Override
    public Portcullis.Builder maxAttempts(int value) {
        if (value < 1) {
            throw new IllegalArgumentException("expected `maxAttempts` above 0");
        }
        maxAttempts = value;
        return this;
    }

    @Override
    public Portcullis.Builder retryBudget(double value) {
        if (!(value >= 0)) {
            throw new IllegalArgumentException("expected `retryBudget` of 0 or more");
        }
        retryBudget = value;
        return this;
    }

    @Override
    public Portcullis.Builder onUnavailable(OnUnavailable value) {
        onUnavailable = value;
        return this;
    }

    @Override
    public Portcullis.Builder cache(Cache value) {
        cache = value;
        return this;
    }

    @Override
    public Portcullis.Builder observer(Observer value) {
        observer = value;
        return this;
    }

    @Override
    public Portcullis build() {
        return new HttpPortcullis(this);
    }

    /** Returns the address of the service, without a slash at its end. */
    String address() {
        String given = url == null ? variable("PORTCULLIS_URL") : url;
        if (given == null) {
            throw new IllegalArgumentException("expected `url`, or the variable PORTCULLIS_URL");
        }
        URI uri = Transport.address("url", given);
        if (uri.getRawUserInfo() != null || uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw new IllegalArgumentException("expected a `url` of http or https, without user, query and fragment");
        }
        return given.replaceAll("/+$", "");
    }

    Credential credential(Transport transport, Executor executor) {
        if (credentials.size() > 1) {
            throw new IllegalArgumentException("expected one credential, got " + String.join(", ", credentials));
        }
        if (provider != null) {
            Supplier<String> given = provider;
            return new RenewedCredential(deadline -> CompletableFuture.supplyAsync(() -> provided(given), executor));
        }
        if (client != null) {
            return new RenewedCredential(new TokenEndpoint(client, transport)::token);
        }
        String key = fixed == null ? variable("PORTCULLIS_SERVICE_KEY") : null;
        if (fixed == null && key == null) {
            throw new IllegalArgumentException("expected a credential, or the variable PORTCULLIS_SERVICE_KEY");
        }
        return fixed == null ? Credential.serviceKey(key) : fixed;
    }

    /** Asks a provider for a token, which has no known end. */
    private static RenewedCredential.Token provided(Supplier<String> provider) {
        String token;
        try {
            token = provider.get();
        } catch (RuntimeException error) {
            // Its message could have a credential.
            throw new RenewedCredential.NoToken("the provider of tokens fails");
        }
        if (token == null || !Header.canHold(token)) {
            throw new RenewedCredential.NoToken("the provider gave no usable token");
        }
        return new RenewedCredential.Token(Header.bearer(token), false, 0);
    }

    private static @Nullable String variable(String name) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? null : value;
    }

    /** Returns the time, if it is above 0. */
    static Duration positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException("expected `" + name + "` above 0");
        }
        return value;
    }
}
