package dev.portcullis.client;

import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.ByteBuffer;
import java.util.concurrent.Flow.Subscriber;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request that is sent once. The HTTP client of the JDK repeats a {@code GET} or {@code HEAD} by itself if its connection
 * closes before the answer. It asks for the length before each of its attempts, and the further one ends here.
 */
final class SentOnce implements BodyPublisher {
    private final BodyPublisher body;
    private final AtomicBoolean isSent = new AtomicBoolean();

    private SentOnce(BodyPublisher body) {
        this.body = body;
    }

    /** Returns the body of a request with this method. */
    static BodyPublisher of(String method, @Nullable String body) {
        BodyPublisher plain = body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body);
        return method.equals("GET") || method.equals("HEAD") ? new SentOnce(plain) : plain;
    }

    @Override
    public long contentLength() {
        if (isSent.getAndSet(true)) {
            throw new IllegalStateException("the connection closed before the answer");
        }
        return body.contentLength();
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        body.subscribe(subscriber);
    }
}
