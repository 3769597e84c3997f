package dev.portcullis.client;

import org.jspecify.annotations.Nullable;

/** Any failure of this client. No message has a credential. */
public abstract class PortcullisException extends RuntimeException {
    private static final long serialVersionUID = 1;

    PortcullisException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
