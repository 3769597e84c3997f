package dev.portcullis.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of what a search found.
 *
 * @param results what is allowed
 * @param conditional what the service cannot decide without attributes of resolvers
 * @param complete whether there is no further page
 * @param next where the next page begins: {@code cursor} of the next call
 */
public record SearchPage(List<Found> results, List<Found> conditional, boolean complete, @Nullable String next) {}
