package dev.portcullis.client;

import java.util.function.Predicate;

/** What counts where there is no decision. It never sees a denial or a refusal. */
@FunctionalInterface
public interface OnUnavailable {
    /** Throws the failure. */
    OnUnavailable THROW = failure -> {
        throw failure;
    };

    /** Denies. */
    OnUnavailable DENY = failure -> false;

    /** Returns whether the failure counts as an allow, or throws it. */
    boolean isAllowed(UnavailableException failure);

    /** Asks a function whether a failure counts as an allow. */
    static OnUnavailable decide(Predicate<UnavailableException> function) {
        return function::test;
    }
}
