package dev.portcullis.spring;

import dev.portcullis.client.Decision;
import org.springframework.security.authorization.AuthorizationDecision;

/** A decision of Portcullis as Spring Security takes it. */
public final class PortcullisAuthorizationDecision extends AuthorizationDecision {
    private final Decision decision;

    PortcullisAuthorizationDecision(Decision decision) {
        super(decision.allowed());
        this.decision = decision;
    }

    /** Returns the decision itself. */
    public Decision decision() {
        return decision;
    }
}
