package dev.portcullis.spring;

import dev.portcullis.client.Decision;
import dev.portcullis.client.DeniedException;
import dev.portcullis.client.RejectedException;
import dev.portcullis.client.UnavailableException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.security.authorization.AuthorizationDeniedException;

/** An answer in place of a handler's: problem details (RFC 9457). */
record Problem(HttpStatus status, @Nullable Decision decision) {
    /** Returns the problem that a failure is; null for the failures of others. */
    static @Nullable Problem of(Throwable failure) {
        if (failure instanceof UnavailableException) {
            return new Problem(HttpStatus.SERVICE_UNAVAILABLE, null);
        }
        if (failure instanceof RejectedException) {
            // The service refuses this application, not its caller.
            return new Problem(HttpStatus.INTERNAL_SERVER_ERROR, null);
        }
        if (failure instanceof DeniedException denial) {
            return new Problem(HttpStatus.FORBIDDEN, denial.decision());
        }
        return null;
    }

    /** Returns the problem of a denial by Spring Security, if Portcullis decided, or would have with a user. */
    static @Nullable Problem ofDenial(Throwable failure) {
        if (failure instanceof PortcullisAuthorizationManager.NobodyException) {
            return new Problem(HttpStatus.UNAUTHORIZED, null);
        }
        return failure instanceof AuthorizationDeniedException denial
                        && denial.getAuthorizationResult() instanceof PortcullisAuthorizationDecision denied
                ? new Problem(HttpStatus.FORBIDDEN, denied.decision())
                : null;
    }

    /** Sends the problem. */
    void send(HttpServletResponse response, boolean exposeReason) throws IOException {
        response.setStatus(status.value());
        response.setContentType("application/problem+json");
        if (status == HttpStatus.SERVICE_UNAVAILABLE) {
            response.setHeader("Retry-After", "1");
        }
        if (status == HttpStatus.UNAUTHORIZED && !response.containsHeader("WWW-Authenticate")) {
            response.setHeader("WWW-Authenticate", "Bearer");
        }
        byte[] body = body(exposeReason).getBytes(StandardCharsets.UTF_8);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    private String body(boolean exposeReason) {
        String body = "{\"type\":\"about:blank\",\"title\":" + quoted(status.getReasonPhrase()) + ",\"status\":" + status.value();
        if (exposeReason && decision != null) {
            body += ",\"rule\":" + quoted(decision.rule()) + ",\"reason\":" + quoted(decision.reason());
        }
        return body + "}";
    }

    /** Returns a text in JSON. Jackson is not called: its packages differ between Boot 3.5 and 4. */
    private static String quoted(@Nullable String text) {
        if (text == null) {
            return "null";
        }
        StringBuilder quoted = new StringBuilder("\"");
        for (char character : text.toCharArray()) {
            boolean isPlain = character >= ' ' && character != '"' && character != '\\';
            quoted.append(isPlain ? String.valueOf(character) : String.format("\\u%04x", (int) character));
        }
        return quoted.append('"').toString();
    }
}
