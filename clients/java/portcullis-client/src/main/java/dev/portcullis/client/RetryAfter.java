package dev.portcullis.client;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads {@code Retry-After} (RFC 9110, section 10.2.3). */
final class RetryAfter {
    private static final Pattern SECONDS = Pattern.compile("[0-9]+");

    private static final long LONGEST = 999_999_999;

    private RetryAfter() {}

    /** Returns the time to wait; null where the header is absent or cannot be read. */
    static @Nullable Duration read(@Nullable String header) {
        if (header == null) {
            return null;
        }
        String text = header.strip();
        if (SECONDS.matcher(text).matches()) {
            // No deadline is as far as nine digits.
            return Duration.ofSeconds(text.length() > 9 ? LONGEST : Long.parseLong(text));
        }
        try {
            Instant instant = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
            Duration left = Duration.between(Instant.now(), instant);
            return left.isNegative() ? Duration.ZERO : left;
        } catch (DateTimeParseException unreadable) {
            return null;
        }
    }
}
