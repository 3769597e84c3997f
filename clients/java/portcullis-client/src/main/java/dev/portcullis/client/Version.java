package dev.portcullis.client;

/** The version of this package. A test compares it with the POM. */
final class Version {
    static final String VERSION = "0.3.0";

    private Version() {}
}
