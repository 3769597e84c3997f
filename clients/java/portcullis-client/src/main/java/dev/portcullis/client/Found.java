package dev.portcullis.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a search found: an entity ({@code type}, {@code id}), or an action ({@code resource}, {@code action}).
 *
 * @param type the type of the entity
 * @param id the id of the entity
 * @param decision the decision about it
 * @param rule the id of the rule or policy that decided
 * @param dependsOn the attributes that the decision depends on, where it does
 * @param resource the resource of the action
 * @param action the action
 */
public record Found(
        @Nullable String type,
        @Nullable String id,
        @Nullable String decision,
        @Nullable String rule,
        List<String> dependsOn,
        @Nullable String resource,
        @Nullable String action) {

    /** Returns an entity. */
    public Found(@Nullable String type, @Nullable String id, @Nullable String decision, @Nullable String rule, List<String> dependsOn) {
        this(type, id, decision, rule, dependsOn, null, null);
    }
}
