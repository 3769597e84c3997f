package dev.portcullis.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A condition in SQL.
 *
 * @param text the condition, with a placeholder for each parameter
 * @param params the parameters, in order
 */
public record Sql(String text, List<@Nullable Object> params) {}
