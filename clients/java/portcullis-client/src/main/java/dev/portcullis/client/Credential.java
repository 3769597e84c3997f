package dev.portcullis.client;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What a request is sent with. No text form shows it. */
public abstract class Credential {
    Credential() {}

    /** Returns the credential of a service key. */
    public static Credential serviceKey(String key) {
        return new Fixed(Header.serviceKey(holdable("service key", key)));
    }

    /** Returns the credential of a token. */
    public static Credential token(String token) {
        return new Fixed(Header.bearer(holdable("token", token)));
    }

    /** Returns the header of the credential. Fails where there is no token to be had. */
    abstract CompletableFuture<Header> header(Deadline deadline);

    /** Forgets a header that the service refused. Returns whether there may be another one. */
    abstract boolean renew(Header refused);

    private static String holdable(String what, String text) {
        if (!Header.canHold(text)) {
            throw new IllegalArgumentException("no header can hold the " + what);
        }
        return text;
    }

    /** A credential that stays as it is. */
    private static final class Fixed extends Credential {
        private final Header header;

        Fixed(Header header) {
            this.header = header;
        }

        @Override
        CompletableFuture<Header> header(Deadline deadline) {
            return CompletableFuture.completedFuture(header);
        }

        @Override
        boolean renew(Header refused) {
            return false;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Fixed fixed && header.equals(fixed.header);
        }

        @Override
        public int hashCode() {
            return header.hashCode();
        }

        @Override
        public String toString() {
            return "Credential[" + header.name() + "]";
        }
    }
}
