package dev.portcullis.client;

/** The further attempts that an outage may cost. */
final class Budget {
    private static final double MOST = 10;

    private final double refill;
    private double left = MOST;

    Budget(double refill) {
        this.refill = refill;
    }

    /** Adds the share of a call. */
    synchronized void addCall() {
        left = Math.min(MOST, left + refill);
    }

    /** Takes a further attempt. Returns whether there was one. */
    synchronized boolean take() {
        if (left < 1) {
            return false;
        }
        left -= 1;
        return true;
    }
}
