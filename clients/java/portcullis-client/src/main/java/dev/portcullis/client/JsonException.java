package dev.portcullis.client;

/** A text that is not JSON, or JSON that is not an answer of the service. */
final class JsonException extends RuntimeException {
    private static final long serialVersionUID = 1;

    JsonException(String message) {
        super(message);
    }
}
