package dev.portcullis.client;

import org.jspecify.annotations.Nullable;

/**
 * The condition under which a subject may act on rows of the caller's own database.
 *
 * @param kind {@code always}, {@code never}, or {@code conditional}
 * @param sql the condition, where there is one
 * @param exact whether the condition decides alone; if not, a check of each row must follow
 */
public record Plan(String kind, @Nullable Sql sql, boolean exact) {}
