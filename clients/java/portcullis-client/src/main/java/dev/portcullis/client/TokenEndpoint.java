package dev.portcullis.client;

import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Gets tokens by the grant {@code client_credentials} (RFC 6749, section 4.4). */
final class TokenEndpoint {
    private final ClientCredentials client;
    private final @Nullable String host;
    private final Transport transport;

    TokenEndpoint(ClientCredentials client, Transport transport) {
        this.client = client;
        // An address that none can have is refused at the start.
        this.host = Transport.address("tokenUrl", client.tokenUrl()).getHost();
        this.transport = transport;
    }

    /** Gets a token. */
    CompletableFuture<RenewedCredential.Token> token(Deadline deadline) {
        return transport.sendOnce(host, request(), deadline).thenApply(TokenEndpoint::read);
    }

    private HttpRequest.Builder request() {
        String form = "grant_type=client_credentials" + (client.scope() == null ? "" : "&scope=" + encoded(client.scope()));
        String pair = encoded(client.clientId()) + ":" + encoded(client.clientSecret());
        String basic = Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
        return Transport.request(client.tokenUrl())
                .header("authorization", "Basic " + basic)
                .header("accept", "application/json")
                .header("content-type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form));
    }

    /** Reads the answer (RFC 6749, section 5.1). */
    private static RenewedCredential.Token read(Answer answer) {
        if (answer.status() != 200) {
            String message = "the token endpoint answers " + answer.status();
            throw new RenewedCredential.NoToken(
                    message, Transport.isTransient(answer.status()), RetryAfter.read(answer.header("retry-after")));
        }
        Map<String, @Nullable Object> members;
        try {
            members = Json.object(answer.json());
        } catch (JsonException error) {
            throw new RenewedCredential.NoToken("the token endpoint does not answer with a JSON object");
        }
        String token = Json.textOrNull(members.get("access_token"));
        if (token == null || !Header.canHold(token)) {
            throw new RenewedCredential.NoToken("the token endpoint gives no usable `access_token`");
        }
        // Without a life it counts for this call alone.
        long seconds = members.get("expires_in") instanceof Number life ? Math.max(0, life.longValue()) : 0;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Math.min(seconds, TimeUnit.DAYS.toSeconds(365)));
        return new RenewedCredential.Token(Header.bearer(token), true, end);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
