package dev.portcullis.client;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The service has not the revision any more that the call demands: an older database was put back. */
final class LostRevision extends UnavailableException {
    private static final long serialVersionUID = 1;
    private final transient Map<String, @Nullable Object> details;

    LostRevision(int attempts, Map<String, @Nullable Object> details) {
        super(Kind.REVISION_LOST, "the service lost the revision", attempts, 409, null, null);
        this.details = details;
    }

    /** Returns what remains of the remembered revision. */
    Revision replaceIn(Revision remembered) {
        Long present = details.get("revision") instanceof Long number ? number : null;
        if ("policy".equals(details.get("of"))) {
            return new Revision(present, remembered.entities());
        }
        if ("entities".equals(details.get("of"))) {
            return new Revision(remembered.policy(), present);
        }
        return Revision.NONE;
    }
}
