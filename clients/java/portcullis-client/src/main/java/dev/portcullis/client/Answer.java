package dev.portcullis.client;

import java.net.http.HttpHeaders;
import org.jspecify.annotations.Nullable;

/** A whole answer of the service. */
record Answer(int status, HttpHeaders headers, byte[] body, int attempts) {
    /** Returns the answer after so many attempts. */
    Answer after(int attempts) {
        return new Answer(status, headers, body, attempts);
    }

    /** Reads the body. Throws where it is not one JSON text. */
    @Nullable Object json() {
        return JsonReader.read(body);
    }

    @Nullable String header(String name) {
        return headers.firstValue(name).orElse(null);
    }
}
