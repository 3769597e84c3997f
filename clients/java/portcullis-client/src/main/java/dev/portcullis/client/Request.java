package dev.portcullis.client;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request, as every attempt sends it.
 *
 * @param repeats whether it may be sent again
 */
record Request(String method, String path, @Nullable String body, Map<String, String> headers, boolean repeats) {}
