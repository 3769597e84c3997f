package dev.portcullis.client;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The way to a service: attempts, waits, the budget and the credential, all before one deadline. */
final class Transport {
    private static final long FIRST_WAIT = 25_000_000;
    private static final long LONGEST_WAIT = 250_000_000;
    // 25 ms times two to the fourth is above the longest wait.
    private static final int MOST_DOUBLINGS = 4;

    private final HttpClient http;
    private final String url;
    private final @Nullable String host;
    private final int maxAttempts;
    private final Budget budget;

    Transport(HttpClient http, String url, int maxAttempts, double retryBudget) {
        this.http = http;
        this.url = url;
        this.host = URI.create(url).getHost();
        this.maxAttempts = maxAttempts;
        this.budget = new Budget(retryBudget);
    }

    /** Sends a request until there is an answer with a status of 2xx. Fails with an exception of this package. */
    CompletableFuture<Answer> send(Request request, Credential credential, Deadline deadline) {
        budget.addCall();
        return new Sending(request, credential, deadline).next();
    }

    /** Sends a request to a host once. */
    CompletableFuture<Answer> sendOnce(@Nullable String host, HttpRequest.Builder request, Deadline deadline) {
        return deadline.send(http, host, request);
    }

    /** Returns the address of a service. Throws if the text is not an address, and does not show it: it may have a credential. */
    static URI address(String name, String text) {
        URI uri = null;
        try {
            uri = new URI(text);
        } catch (URISyntaxException malformed) {
            // As one without a host.
        }
        boolean isHttp = uri != null && ("http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme()));
        if (!isHttp || uri.getHost() == null) {
            throw new IllegalArgumentException("expected a `" + name + "` of http or https");
        }
        return uri;
    }

    /** Returns a builder of a request to an address. Throws for an address that none can have. */
    static HttpRequest.Builder request(String address) {
        URI uri = URI.create(address);
        // Tokens and keys go by TLS with HTTP/2 where the service has it; a plain connection would begin with an upgrade.
        HttpClient.Version version = "https".equals(uri.getScheme()) ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1;
        return HttpRequest.newBuilder(uri).version(version);
    }

    /** The attempts of one call. One runs after the other, so that the fields need no lock. */
    private final class Sending {
        private final Request request;
        private final Credential credential;
        private final Deadline deadline;
        private int sent;
        // The attempts, those without a token among them.
        private int tried;
        private boolean isRenewed;

        Sending(Request request, Credential credential, Deadline deadline) {
            this.request = request;
            this.credential = credential;
            this.deadline = deadline;
        }

        /** Makes one attempt more. */
        CompletableFuture<Answer> next() {
            tried += 1;
            return deadline.race(credential.header(deadline))
                    .handle((header, error) -> error == null ? exchange(header) : withoutToken(Calls.unwrap(error)))
                    .thenCompose(Function.identity());
        }

        private CompletableFuture<Answer> exchange(Header header) {
            HttpRequest.Builder built;
            try {
                built = built(header);
            } catch (IllegalArgumentException error) {
                return failed(RejectedException.unsendable("the request cannot be sent: its method, path or a header is malformed"));
            }
            sent += 1;
            return sendOnce(host, built, deadline)
                    .handle((answer, error) -> error == null ? judged(answer.after(sent), header) : broken(Calls.unwrap(error)))
                    .thenCompose(Function.identity());
        }

        private HttpRequest.Builder built(Header header) {
            HttpRequest.Builder builder = request(url + request.path());
            request.headers().forEach(builder::setHeader);
            builder.setHeader(header.name(), header.value());
            return builder.method(request.method(), SentOnce.of(request.method(), request.body()));
        }

        private CompletableFuture<Answer> judged(Answer answer, Header header) {
            int status = answer.status();
            if (status >= 200 && status < 300) {
                return CompletableFuture.completedFuture(answer);
            }
            if (status < 200 || status < 400 || status == 429 || status >= 500) {
                return again(statusFailure(answer), isTransient(status));
            }
            if (status == 401 && !isRenewed && credential.renew(header)) {
                isRenewed = true;
                return next();
            }
            return failed(refusal(answer));
        }

        /** Returns the failure that a status says. */
        private UnavailableException statusFailure(Answer answer) {
            int status = answer.status();
            Kind kind = status < 400 ? Kind.ANSWER : Kind.STATUS;
            Duration retryAfter = RetryAfter.read(answer.header("retry-after"));
            return new UnavailableException(kind, "the service answers " + status, sent, status, retryAfter, null);
        }

        /** Goes on after a request without a whole answer. */
        private CompletableFuture<Answer> broken(Throwable cause) {
            // The caller gave up.
            if (cause instanceof CancellationException) {
                return CompletableFuture.failedFuture(cause);
            }
            UnavailableException failure = failure(cause);
            return again(failure, failure.kind() == Kind.CONNECT);
        }

        /** Returns why there is no whole answer. */
        private UnavailableException failure(Throwable cause) {
            if (cause instanceof BoundedBody.TooLarge) {
                return new UnavailableException(Kind.ANSWER, "the answer is over 16 MiB", sent);
            }
            if (cause instanceof Deadline.Expired || deadline.left() <= 0) {
                return new UnavailableException(Kind.TIMEOUT, "no whole answer before the deadline", sent);
            }
            String why = "the connection failed: " + cause.getClass().getSimpleName();
            return new UnavailableException(Kind.CONNECT, why, sent, null, null, cause);
        }

        private CompletableFuture<Answer> withoutToken(Throwable cause) {
            if (cause instanceof CancellationException) {
                return CompletableFuture.failedFuture(cause);
            }
            if (cause instanceof Deadline.Expired) {
                return failed(new UnavailableException(Kind.TIMEOUT, "no token before the deadline", sent));
            }
            if (cause instanceof RenewedCredential.NoToken none) {
                String message = String.valueOf(none.getMessage());
                return again(new UnavailableException(Kind.CREDENTIAL, message, sent, null, none.retryAfter, null), none.isTransient);
            }
            boolean isTransient = cause instanceof IOException && !(cause instanceof BoundedBody.TooLarge);
            return again(new UnavailableException(Kind.CREDENTIAL, "the token endpoint cannot be reached", sent), isTransient);
        }

        /** Makes a further attempt after a failure that is transient, or fails with it. */
        private CompletableFuture<Answer> again(UnavailableException failure, boolean isTransient) {
            Long wait = isTransient ? waitBefore(failure) : null;
            if (wait == null) {
                return failed(failure);
            }
            return deadline.pause(wait)
                    .handle((none, error) -> error == null ? next() : late(Calls.unwrap(error)))
                    .thenCompose(Function.identity());
        }

        private CompletableFuture<Answer> late(Throwable cause) {
            boolean isOver = cause instanceof Deadline.Expired;
            return CompletableFuture.failedFuture(isOver ? new UnavailableException(Kind.TIMEOUT, "the deadline is over", sent) : cause);
        }

        /** Returns the nanoseconds before the next attempt; null where there is none. */
        private @Nullable Long waitBefore(UnavailableException failure) {
            if (!request.repeats() || tried >= maxAttempts) {
                return null;
            }
            long most = Math.min(LONGEST_WAIT, FIRST_WAIT << Math.min(tried - 1, MOST_DOUBLINGS));
            Duration retryAfter = failure.retryAfter();
            Duration wait = retryAfter == null ? Duration.ofNanos(ThreadLocalRandom.current().nextLong(most + 1)) : retryAfter;
            // As nanoseconds a time that is far away would overflow.
            boolean isInTime = wait.compareTo(Duration.ofNanos(deadline.left())) < 0;
            return isInTime && budget.take() ? wait.toNanos() : null;
        }

        private CompletableFuture<Answer> failed(PortcullisException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    /** Returns whether a further attempt may have another status. */
    static boolean isTransient(int status) {
        return status == 429 || status >= 502 && status <= 504;
    }

    /** Returns the exception for a 4xx. */
    private static PortcullisException refusal(Answer answer) {
        Map<String, @Nullable Object> body = objectOf(answer);
        String code = Json.textOrNull(body.get("error"));
        Map<String, @Nullable Object> details = body.get("details") instanceof Map ? Json.object(body.get("details")) : Map.of();
        if (answer.status() == 409 && "REVISION_LOST".equals(code)) {
            return new LostRevision(answer.attempts(), details);
        }
        String message = Json.textOrNull(body.get("message"));
        return new RejectedException(
                answer.status(),
                code,
                message == null ? "the service answers " + answer.status() : message,
                details,
                answer.header("x-request-id"),
                answer.attempts());
    }

    /** Returns the members of the body, or none: a proxy may answer with anything. */
    private static Map<String, @Nullable Object> objectOf(Answer answer) {
        try {
            return Json.object(answer.json());
        } catch (JsonException error) {
            return Map.of();
        }
    }
}
