package dev.portcullis.client;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;

/** Reads the whole body of an answer, and gives up where it is larger than 16 MiB. */
final class BoundedBody implements BodySubscriber<byte[]> {
    /** The largest answer that is read, in bytes. */
    static final int LARGEST = 16 * 1024 * 1024;

    /** The answer is larger than the bound. */
    static final class TooLarge extends IOException {
        private static final long serialVersionUID = 1;

        private TooLarge() {
            super("the answer is over 16 MiB");
        }
    }

    private final BodySubscriber<byte[]> whole = BodySubscribers.ofByteArray();
    private final CompletableFuture<byte[]> body = new CompletableFuture<>();
    private long left = LARGEST;
    private volatile @Nullable Subscription subscription;

    private BoundedBody(long announced) {
        whole.getBody().whenComplete((bytes, error) -> {
            if (error == null) {
                body.complete(bytes);
            } else {
                body.completeExceptionally(error);
            }
        });
        left -= announced > LARGEST ? announced : 0;
    }

    /** Returns a reader of the body that follows a head. */
    static BoundedBody of(ResponseInfo head) {
        return new BoundedBody(announced(head.headers().firstValue("content-length").orElse("")));
    }

    /** Returns a reader that is there with the head, while its bytes still come. */
    static BodySubscriber<BoundedBody> begun(ResponseInfo head) {
        return new Begun(of(head));
    }

    private record Begun(BoundedBody body) implements BodySubscriber<BoundedBody> {
        @Override
        public CompletionStage<BoundedBody> getBody() {
            return CompletableFuture.completedStage(body);
        }

        @Override
        public void onSubscribe(Subscription given) {
            body.onSubscribe(given);
        }

        @Override
        public void onNext(List<ByteBuffer> chunks) {
            body.onNext(chunks);
        }

        @Override
        public void onError(Throwable error) {
            body.onError(error);
        }

        @Override
        public void onComplete() {
            body.onComplete();
        }
    }

    @Override
    public CompletableFuture<byte[]> getBody() {
        return body;
    }

    @Override
    public void onSubscribe(Subscription given) {
        subscription = given;
        if (left < 0) {
            giveUp();
        } else {
            whole.onSubscribe(given);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> chunks) {
        if (left < 0) {
            return;
        }
        left -= chunks.stream().mapToLong(ByteBuffer::remaining).sum();
        if (left < 0) {
            giveUp();
        } else {
            whole.onNext(chunks);
        }
    }

    @Override
    public void onError(Throwable error) {
        body.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        if (left >= 0) {
            whole.onComplete();
        }
    }

    private void giveUp() {
        cancel();
        body.completeExceptionally(new TooLarge());
    }

    /** Ends the connection: nobody waits for the rest. */
    void cancel() {
        if (subscription != null) {
            subscription.cancel();
        }
    }

    private static long announced(String length) {
        try {
            return Long.parseLong(length);
        } catch (NumberFormatException absent) {
            return 0;
        }
    }
}
