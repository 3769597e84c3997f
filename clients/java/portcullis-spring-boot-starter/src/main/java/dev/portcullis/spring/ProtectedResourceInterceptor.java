package dev.portcullis.spring;

import dev.portcullis.client.CallOptions;
import dev.portcullis.client.Credential;
import dev.portcullis.client.Decision;
import dev.portcullis.client.Portcullis;
import dev.portcullis.client.RejectedException;
import dev.portcullis.client.UnavailableException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.HttpStatus;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;

/** Checks requests to handlers with {@link ProtectedResource} by the bearer token of their caller. */
final class ProtectedResourceInterceptor implements HandlerInterceptor {
    private static final String SCHEME = "Bearer ";

    private final ObjectProvider<Portcullis> portcullis;
    private final boolean exposeReason;

    ProtectedResourceInterceptor(ObjectProvider<Portcullis> portcullis, boolean exposeReason) {
        this.portcullis = portcullis;
        this.exposeReason = exposeReason;
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) throws IOException {
        ProtectedResource of = handler instanceof HandlerMethod method ? method.getMethodAnnotation(ProtectedResource.class) : null;
        Problem problem = of == null ? null : problem(of, credential(request));
        if (problem != null) {
            problem.send(response, exposeReason);
        }
        return problem == null;
    }

    private @Nullable Problem problem(ProtectedResource of, @Nullable Credential caller) {
        if (caller == null) {
            return new Problem(HttpStatus.UNAUTHORIZED, null);
        }
        try {
            Decision decision = portcullis.getObject().accessCheck(of.name(), CallOptions.defaults().credential(caller));
            return decision.allowed() ? null : new Problem(HttpStatus.FORBIDDEN, decision);
        } catch (RejectedException refusal) {
            // The token is the caller's: a refusal of it is about the caller.
            return refusal.status() == 401 ? new Problem(HttpStatus.UNAUTHORIZED, null) : Problem.of(refusal);
        } catch (UnavailableException failure) {
            return Problem.of(failure);
        }
    }

    /** Returns the bearer token of the caller; null where there is none, or one that no header can hold. */
    private static @Nullable Credential credential(HttpServletRequest request) {
        String header = request.getHeader("Authorization");
        if (header == null || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return null;
        }
        try {
            return Credential.token(header.substring(SCHEME.length()).strip());
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }
}
