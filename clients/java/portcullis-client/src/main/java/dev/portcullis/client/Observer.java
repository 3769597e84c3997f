package dev.portcullis.client;

import java.util.Map;

/** Is told about each call. What it throws is logged and changes nothing. */
public interface Observer {
    /** Begins the observation of a call, on the thread of the caller. The operation is in snake_case: {@code access_check}. */
    Observation start(String operation);

    /** The observation of a call. */
    interface Observation {
        /** Returns headers to add to each request of the call. */
        default Map<String, String> headers() {
            return Map.of();
        }

        /** Is called once, at the end of the call. */
        void end(Outcome outcome);
    }
}
