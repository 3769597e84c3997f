package dev.portcullis.client;

import java.util.List;

/**
 * What a subject may do on a registered resource.
 *
 * @param resource the resource, {@code <name>:<verb>}
 * @param action the action
 * @param decision {@code allow}, {@code deny}, or {@code depends}
 * @param dependsOn the attributes that the decision depends on, where it does
 */
public record Permission(String resource, String action, String decision, List<String> dependsOn) {}
