package dev.portcullis.client;

import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.ByteBuffer;
import java.util.concurrent.Flow.Subscriber;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A body that is sent once. The HTTP client of the JDK repeats a {@code GET} whose connection closes before the answer; it asks for
 * the length before each of its attempts, and the further one ends here.
 */
final class SentOnce implements BodyPublisher {
    private final BodyPublisher body;
    private final AtomicBoolean isSent = new AtomicBoolean();

    SentOnce(@Nullable String body) {
        this.body = body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body);
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
