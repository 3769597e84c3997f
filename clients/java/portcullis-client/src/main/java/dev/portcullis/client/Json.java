package dev.portcullis.client;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes JSON, and takes apart what was read. */
final class Json {
    private Json() {}

    /** Writes a value of maps, iterables, texts, numbers, booleans and null. */
    static String write(@Nullable Object value) {
        StringBuilder text = new StringBuilder();
        try {
            write(value, text, 0);
        } catch (JsonException error) {
            throw RejectedException.unsendable("the request cannot be written as JSON: " + error.getMessage());
        }
        return text.toString();
    }

    /** Puts a member, if it has a value. */
    static void putPresent(Map<String, @Nullable Object> members, String name, @Nullable Object value) {
        if (value != null) {
            members.put(name, value);
        }
    }

    /** Returns an object, or throws if it is not one. */
    @SuppressWarnings("unchecked") // The reader makes maps of this kind alone.
    static Map<String, @Nullable Object> object(@Nullable Object value) {
        if (value instanceof Map<?, ?> members) {
            return (Map<String, @Nullable Object>) members;
        }
        throw new JsonException("expected an object");
    }

    /** Returns an array, or throws if it is not one. */
    static List<?> array(@Nullable Object value) {
        if (value instanceof List<?> items) {
            return items;
        }
        throw new JsonException("expected an array");
    }

    /** Returns a text, or throws if it is not one. */
    static String text(@Nullable Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw new JsonException("expected a text");
    }

    /** Returns a whole number, or throws if it is not one. */
    static long number(@Nullable Object value) {
        if (value instanceof Long number) {
            return number;
        }
        throw new JsonException("expected a whole number");
    }

    /** Returns a text, or null for anything else. */
    static @Nullable String textOrNull(@Nullable Object value) {
        return value instanceof String text ? text : null;
    }

    private static void write(@Nullable Object value, StringBuilder text, int depth) {
        if (depth > JsonReader.DEEPEST) {
            throw new JsonException("more than " + JsonReader.DEEPEST + " arrays and objects within each other");
        }
        if (value instanceof Map<?, ?> members) {
            writeObject(members, text, depth);
        } else if (value instanceof Iterable<?> items) {
            writeArray(items, text, depth);
        } else if (value instanceof String string) {
            writeString(string, text);
        } else if (value == null || value instanceof Boolean || isNumber(value)) {
            text.append(value);
        } else {
            throw new JsonException("a value of " + value.getClass().getName());
        }
    }

    private static boolean isNumber(Object value) {
        if (value instanceof Double || value instanceof Float) {
            return Double.isFinite(((Number) value).doubleValue());
        }
        return value instanceof Long
                || value instanceof Integer
                || value instanceof Short
                || value instanceof Byte
                || value instanceof BigInteger
                || value instanceof BigDecimal;
    }

    private static void writeObject(Map<?, ?> members, StringBuilder text, int depth) {
        char before = '{';
        for (Map.Entry<?, ?> member : members.entrySet()) {
            if (!(member.getKey() instanceof String name)) {
                throw new JsonException("a name that is not a text");
            }
            text.append(before);
            writeString(name, text);
            text.append(':');
            write(member.getValue(), text, depth + 1);
            before = ',';
        }
        text.append(before == '{' ? "{}" : "}");
    }

    private static void writeArray(Iterable<?> items, StringBuilder text, int depth) {
        char before = '[';
        for (Object item : items) {
            text.append(before);
            write(item, text, depth + 1);
            before = ',';
        }
        text.append(before == '[' ? "[]" : "]");
    }

    private static void writeString(String string, StringBuilder text) {
        text.append('"');
        for (int at = 0; at < string.length(); at += 1) {
            char character = string.charAt(at);
            if (character == '"' || character == '\\') {
                text.append('\\').append(character);
            } else if (character < ' ' || Character.isSurrogate(character) && !isPair(string, at)) {
                // UTF-8 has no half of a pair.
                text.append(String.format("\\u%04x", (int) character));
            } else {
                text.append(character);
            }
        }
        text.append('"');
    }

    /** Returns whether the surrogate at an index is a half of a pair. */
    private static boolean isPair(String string, int at) {
        return Character.isHighSurrogate(string.charAt(at))
                ? at + 1 < string.length() && Character.isLowSurrogate(string.charAt(at + 1))
                : at > 0 && Character.isHighSurrogate(string.charAt(at - 1));
    }
}
