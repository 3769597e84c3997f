package dev.portcullis.spring;

import dev.portcullis.client.Check;
import dev.portcullis.client.Portcullis;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
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
    private static final boolean HAS_REQUESTS = ClassUtils.isPresent(
            "org.springframework.security.web.access.intercept.RequestAuthorizationContext",
            PortcullisAuthorizationManager.class.getClassLoader());

    private final ObjectProvider<Portcullis> portcullis;

    PortcullisAuthorizationManager(ObjectProvider<Portcullis> portcullis) {
        this.portcullis = portcullis;
    }

    /** Returns a manager that asks for a resource, {@code <name>:<verb>}. */
    public <T> AuthorizationManager<T> of(String resource) {
        return new ForResource<>(resource);
    }

    /** Asks for a resource. An outage is an exception, which becomes a 503: Spring makes a 403 of each refusal. */
    PortcullisAuthorizationDecision decide(@Nullable Authentication user, String resource, UnaryOperator<Check> change) {
        if (user == null || !user.isAuthenticated() || user instanceof AnonymousAuthenticationToken) {
            throw new AuthenticationCredentialsNotFoundException("nobody is authenticated");
        }
        Check check = change.apply(Check.of(user.getName(), resource));
        return new PortcullisAuthorizationDecision(portcullis.getObject().check(check));
    }

    /** What needs the classes of web applications. */
    private static final class Requests {
        /** Keeps a denial with its request, where {@link ProblemFilter} finds it. */
        static void keep(@Nullable Object object, PortcullisAuthorizationDecision denial) {
            if (object instanceof RequestAuthorizationContext context) {
                context.getRequest().setAttribute(ProblemFilter.DENIAL, denial.decision());
            }
        }
    }

    private final class ForResource<T> implements AuthorizationManager<T> {
        private final String resource;

        ForResource(String resource) {
            this.resource = resource;
        }

        // Spring Security 7 has no such method any more, hence no `@Override`.
        @SuppressWarnings({"deprecation", "MissingOverride"})
        public AuthorizationDecision check(Supplier<Authentication> user, T object) {
            return decide(user.get(), object);
        }

        @Override
        public AuthorizationResult authorize(Supplier<Authentication> user, T object) {
            return decide(user.get(), object);
        }

        private PortcullisAuthorizationDecision decide(@Nullable Authentication user, T object) {
            PortcullisAuthorizationDecision made = PortcullisAuthorizationManager.this.decide(user, resource, UnaryOperator.identity());
            if (HAS_REQUESTS && !made.isGranted()) {
                Requests.keep(object, made);
            }
            return made;
        }
    }
}
