package dev.portcullis.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Holds the reader and writer of JSON to Jackson's, by texts that are JSON or nearly so. */
class JsonAgainstJacksonTest {
    private static final ObjectMapper JACKSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final String[] PARTS = {
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"b\"", "1", "-0", "1.5", "2e3", "1E+400", "123456789012345678901", "true", "false", "null",
        " ", "\n", "\\u00e9", "\\n", "\\", "é", "😀", "\u0001", "\u00a0", "01", "1.", "[]", "{}", "\"a\":", "[1,2]", "{\"a\":{\"b\":[null]}}"
    };

    @Test
    void theSameTextsAreReadAlike() {
        Random random = new Random(3);
        int read = 0;
        for (int round = 0; round < 300_000; round += 1) {
            StringBuilder text = new StringBuilder();
            for (int part = 1 + random.nextInt(7); part > 0; part -= 1) {
                text.append(PARTS[random.nextInt(PARTS.length)]);
            }
            String wrapped = random.nextBoolean() ? "[" + text + "]" : text.toString();
            JsonNode theirs = theirs(wrapped);
            JsonNode ours = ours(wrapped);
            assertEquals(theirs, ours, wrapped);
            read += theirs == null ? 0 : 1;
        }
        assertEquals(true, read > 10_000, "few texts are JSON: " + read);
    }

    /** Returns what Jackson reads; null if it is not JSON. */
    private static JsonNode theirs(String text) {
        try {
            JsonNode read = JACKSON.readTree(text);
            return read.isMissingNode() ? null : read;
        } catch (JsonProcessingException fault) {
            return null;
        }
    }

    /** Returns what the own reader reads, as the own writer writes it, in Jackson's nodes. */
    private static JsonNode ours(String text) {
        try {
            return JACKSON.readTree(Json.write(JsonReader.read(text)));
        } catch (JsonException fault) {
            return null;
        } catch (RejectedException infinite) {
            // Both readers make an infinity of a number that is too large, which JSON has not.
            return theirs(text);
        } catch (JsonProcessingException fault) {
            throw new AssertionError("what is written is not JSON: " + text, fault);
        }
    }
}
