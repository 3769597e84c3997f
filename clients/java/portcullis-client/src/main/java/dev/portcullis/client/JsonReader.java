package dev.portcullis.client;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads one JSON text (RFC 8259). Objects are {@code Map}, whose last member of a name counts, arrays {@code List}; whole numbers
 * are {@code Long} or, if larger, {@code BigInteger}, others {@code Double}.
 */
final class JsonReader {
    /** The most arrays and objects within each other: the reader calls itself. */
    static final int DEEPEST = 512;

    /** Longer whole numbers become {@code Double}: the work for an exact one grows with the square of its length. */
    private static final int LONGEST_EXACT = 1000;

    private final String text;
    private int at;
    private int depth;

    private JsonReader(String text) {
        this.text = text;
    }

    /** Reads a text in UTF-8. */
    static @Nullable Object read(byte[] text) {
        try {
            return read(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString());
        } catch (CharacterCodingException error) {
            throw new JsonException("the text is not UTF-8");
        }
    }

    /** Reads a text. */
    static @Nullable Object read(String text) {
        JsonReader reader = new JsonReader(text);
        reader.skipSpace();
        Object value = reader.value();
        reader.skipSpace();
        if (reader.at < text.length()) {
            throw reader.unexpected();
        }
        return value;
    }

    private @Nullable Object value() {
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, @Nullable Object> object() {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        open();
        if (!skips('}')) {
            do {
                skipSpace();
                String name = string();
                skipSpace();
                expect(':');
                skipSpace();
                members.put(name, value());
                skipSpace();
            } while (skips(','));
            expect('}');
        }
        depth -= 1;
        return Collections.unmodifiableMap(members);
    }

    private List<@Nullable Object> array() {
        List<@Nullable Object> items = new ArrayList<>();
        open();
        if (!skips(']')) {
            do {
                skipSpace();
                items.add(value());
                skipSpace();
            } while (skips(','));
            expect(']');
        }
        depth -= 1;
        return Collections.unmodifiableList(items);
    }

    /** Steps over a bracket that opens, and the space behind it. */
    private void open() {
        depth += 1;
        if (depth > DEEPEST) {
            throw new JsonException("more than " + DEEPEST + " arrays and objects within each other");
        }
        at += 1;
        skipSpace();
    }

    private String string() {
        expect('"');
        int start = at;
        while (peek() != '"' && peek() != '\\') {
            plain();
        }
        if (peek() == '"') {
            return text.substring(start, at++);
        }
        StringBuilder built = new StringBuilder().append(text, start, at);
        while (peek() != '"') {
            built.append(peek() == '\\' ? escaped() : plain());
        }
        at += 1;
        return built.toString();
    }

    /** Steps over a character that stands for itself. */
    private char plain() {
        char plain = peek();
        if (plain < ' ') {
            throw unexpected();
        }
        at += 1;
        return plain;
    }

    private char escaped() {
        at += 1;
        char name = peek();
        at += 1;
        switch (name) {
            case '"', '\\', '/':
                return name;
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                return (char) (hex() << 12 | hex() << 8 | hex() << 4 | hex());
            default:
                at -= 1;
                throw unexpected();
        }
    }

    private int hex() {
        char digit = peek();
        // `Character.digit` also takes digits of other scripts.
        int value = digit < 128 ? Character.digit(digit, 16) : -1;
        if (value < 0) {
            throw unexpected();
        }
        at += 1;
        return value;
    }

    private @Nullable Object word(String word, @Nullable Object value) {
        if (!text.startsWith(word, at)) {
            throw unexpected();
        }
        at += word.length();
        return value;
    }

    private Number number() {
        int start = at;
        skips('-');
        if (!skips('0')) {
            digits();
        }
        boolean whole = true;
        if (skips('.')) {
            whole = false;
            digits();
        }
        if (skips('e') || skips('E')) {
            whole = false;
            if (!skips('+')) {
                skips('-');
            }
            digits();
        }
        String number = text.substring(start, at);
        return whole ? wholeNumber(number) : Double.valueOf(number);
    }

    private static Number wholeNumber(String number) {
        // Up to 18 digits are always a `long`.
        if (number.length() <= 18) {
            return Long.valueOf(number);
        }
        if (number.length() > LONGEST_EXACT) {
            return Double.valueOf(number);
        }
        BigInteger exact = new BigInteger(number);
        return exact.bitLength() < Long.SIZE ? (Number) exact.longValue() : exact;
    }

    /** Steps over one digit or more. */
    private void digits() {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at += 1;
        }
        if (at == start) {
            throw unexpected();
        }
    }

    private void skipSpace() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at += 1;
        }
    }

    /** Steps over the character, if it is there. */
    private boolean skips(char wanted) {
        boolean isThere = at < text.length() && text.charAt(at) == wanted;
        at += isThere ? 1 : 0;
        return isThere;
    }

    private void expect(char wanted) {
        if (!skips(wanted)) {
            throw unexpected();
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw unexpected();
        }
        return text.charAt(at);
    }

    private JsonException unexpected() {
        return new JsonException(at < text.length() ? "unexpected character at " + at : "the text ends too soon");
    }
}
