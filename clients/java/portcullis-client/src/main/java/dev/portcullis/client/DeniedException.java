package dev.portcullis.client;

/** A denial, which {@link Portcullis#require} throws. */
public final class DeniedException extends PortcullisException {
    private static final long serialVersionUID = 1;
    private final Decision decision;

    /** Makes an exception of a denial. */
    public DeniedException(Decision decision) {
        super("denied: " + (decision.reason() == null ? "no reason" : decision.reason()), null);
        this.decision = decision;
    }

    /** Returns the denial. */
    public Decision decision() {
        return decision;
    }
}
