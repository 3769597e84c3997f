package dev.portcullis.client;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answer of any route.
 *
 * @param status the status
 * @param headers the headers; names are found in any case
 * @param json the body as {@code Map}, {@code List}, {@code String}, {@code Number} or {@code Boolean}; null where there is none
 */
public record Response(int status, Map<String, List<String>> headers, @Nullable Object json) {}
