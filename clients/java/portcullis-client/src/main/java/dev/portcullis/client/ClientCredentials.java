package dev.portcullis.client;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Gets tokens by the grant {@code client_credentials} (RFC 6749, section 4.4).
 *
 * @param tokenUrl the address of the token endpoint
 * @param clientId the id of the client
 * @param clientSecret its secret, which no text form shows
 * @param scope the scope to ask for, if any
 */
public record ClientCredentials(String tokenUrl, String clientId, String clientSecret, @Nullable String scope) {
    public ClientCredentials {
        Objects.requireNonNull(tokenUrl, "tokenUrl");
        Objects.requireNonNull(clientId, "clientId");
        Objects.requireNonNull(clientSecret, "clientSecret");
    }

    @Override
    public String toString() {
        return "ClientCredentials[tokenUrl=" + tokenUrl + ", clientId=" + clientId + ", scope=" + scope + "]";
    }
}
