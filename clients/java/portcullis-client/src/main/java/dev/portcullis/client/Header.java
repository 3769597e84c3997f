package dev.portcullis.client;

/** The header of a credential. Its text form has no value. */
record Header(String name, String value) {
    static Header bearer(String token) {
        return new Header("authorization", "Bearer " + token);
    }

    static Header serviceKey(String key) {
        return new Header("x-service-api-key", key);
    }

    /** Returns whether a header can hold the text. The HTTP client would show one that it refuses. */
    static boolean canHold(String text) {
        return !text.isEmpty() && text.chars().allMatch(character -> character > ' ' && character < 127);
    }

    @Override
    public String toString() {
        return "Header[" + name + "]";
    }
}
