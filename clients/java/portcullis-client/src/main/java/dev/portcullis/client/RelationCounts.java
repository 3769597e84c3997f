package dev.portcullis.client;

/**
 * What a write of relations changed.
 *
 * @param written tuples that are new
 * @param unchanged tuples to write that were there already
 * @param deleted tuples that are deleted
 * @param absent tuples to delete that were not there
 */
public record RelationCounts(long written, long unchanged, long deleted, long absent) {}
