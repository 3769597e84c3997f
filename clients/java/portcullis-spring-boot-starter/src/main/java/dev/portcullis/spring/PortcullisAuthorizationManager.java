package dev.portcullis.spring;

import dev.portcullis.client.Check;
import dev.portcullis.client.Decision;
import dev.portcullis.client.Portcullis;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.AuthenticationCredentialsNotFoundException;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.authorization.AuthorizationManager;
import org.springframework.security.authorization.AuthorizationResult;
import org.springframework.security.core.Authentication;
import org.springframework.security.web.access.intercept.RequestAuthorizationContext;
import org.springframework.util.ClassUtils;

/** Makes managers that ask Portcullis about the authenticated user. */
public final class PortcullisAuthorizationManager {
    /** A class of web applications. */
    static final String REQUESTS = "org.springframework.security.web.access.intercept.RequestAuthorizationContext";

    private static final boolean HAS_REQUESTS =
            ClassUtils.isPresent(REQUESTS, PortcullisAuthorizationManager.class.getClassLoader());

    private final ObjectProvider<Portcullis> portcullis;

    PortcullisAuthorizationManager(ObjectProvider<Portcullis> portcullis) {
        this.portcullis = portcullis;
    }

    /** Returns a manager that asks for a resource, {@code <name>:<verb>}. */
    public <T> AuthorizationManager<T> of(String resource) {
        return by((user, object) -> Check.of(user, resource));
    }

    /** Returns a manager that asks what {@code checks} makes of the user's name and the protected object. */
    <T> AuthorizationManager<T> by(BiFunction<String, T, Check> checks) {
        return new Asking<>(checks);
    }

    /** Nobody is authenticated. */
    static final class NobodyException extends AuthenticationCredentialsNotFoundException {
        private static final long serialVersionUID = 1;

        NobodyException() {
            super("nobody is authenticated");
        }
    }

    /** What needs the classes of web applications. */
    private static final class Requests {
        /** Keeps a problem with its request, where {@link ProblemFilter} finds it. */
        static void keep(@Nullable Object object, HttpStatus status, @Nullable Decision denial) {
            if (object instanceof RequestAuthorizationContext context) {
                context.getRequest().setAttribute(ProblemFilter.PROBLEM, new Problem(status, denial));
            }
        }
    }

    private final class Asking<T> implements AuthorizationManager<T> {
        private final BiFunction<String, T, Check> checks;

        Asking(BiFunction<String, T, Check> checks) {
            this.checks = checks;
        }

        // Spring Security 7 has no such method any more, hence no `@Override`.
        @SuppressWarnings({"deprecation", "MissingOverride"})
        public AuthorizationDecision check(Supplier<Authentication> user, T object) {
            return decide(user, object);
        }

        @Override
        public AuthorizationResult authorize(Supplier<Authentication> user, T object) {
            return decide(user, object);
        }

        /** Asks. An outage is an exception, which becomes a 503: Spring makes a 403 of each refusal. */
        private PortcullisAuthorizationDecision decide(Supplier<Authentication> users, T object) {
            Authentication user = authenticated(users);
            if (user == null) {
                if (HAS_REQUESTS) {
                    Requests.keep(object, HttpStatus.UNAUTHORIZED, null);
                }
                throw new NobodyException();
            }
            Check check = checks.apply(user.getName(), object);
            PortcullisAuthorizationDecision made = new PortcullisAuthorizationDecision(portcullis.getObject().check(check));
            if (HAS_REQUESTS && !made.isGranted()) {
                Requests.keep(object, HttpStatus.FORBIDDEN, made.decision());
            }
            return made;
        }

        private static @Nullable Authentication authenticated(Supplier<Authentication> users) {
            Authentication user;
            try {
                user = users.get();
            } catch (AuthenticationCredentialsNotFoundException nobody) {
                return null;
            }
            return user == null || !user.isAuthenticated() || user instanceof AnonymousAuthenticationToken ? null : user;
        }
    }
}
