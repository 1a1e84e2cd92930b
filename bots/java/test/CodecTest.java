import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The client reads and writes the vectors of the protocol, section 13.1. */
final class CodecTest {
    private static final Path VECTORS = Path.of("..", "..", "protocol", "vectors");

    private record Vector(String id, String from, byte[] frame, boolean isIgnored, Map<?, ?> decoded) {}

    @TestFactory
    Stream<DynamicTest> readsWhatARefereeSends() throws IOException {
        return vectors("valid", "referee")
                .map(vector -> dynamicTest(vector.id(), () -> {
                    ArenaBot.Data message = ArenaBot.Codec.decode(vector.frame());
                    if (!vector.isIgnored()) {
                        assertHolds(vector.decoded(), message, false);
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> writesWhatABotSends() throws IOException {
        return vectors("valid", "bot")
                .filter(vector -> !vector.isIgnored())
                .map(vector -> dynamicTest(vector.id(), () -> {
                    @SuppressWarnings("unchecked") // the keys of JSON are strings
                    byte[] frame = ArenaBot.Codec.encode((Map<String, ?>) vector.decoded());
                    assertHolds(vector.decoded(), ArenaBot.Codec.decode(frame), true);
                }));
    }

    /** Breaches of section 5; what a message must hold besides is for the bot that uses it. */
    @TestFactory
    Stream<DynamicTest> refusesFramesThatNoRefereeMaySend() throws IOException {
        return vectors("invalid", "referee")
                .filter(vector -> vector.id().matches("bad-(duplicate-key|float)-referee"))
                .map(vector -> dynamicTest(
                        vector.id(),
                        () -> assertThrows(IOException.class, () -> ArenaBot.Codec.decode(vector.frame()))));
    }

    @Test
    void nestsSixteenDeep() throws IOException {
        HexFormat hex = HexFormat.of();
        String start = "82a474797065a178a161"; // {"type": "x", "a": ...
        ArenaBot.Codec.decode(hex.parseHex(start + "91".repeat(15) + "01"));
        ArenaBot.Codec.decode(hex.parseHex(start + "91".repeat(14) + "90"));
        byte[] deeper = hex.parseHex(start + "91".repeat(15) + "90");
        assertThrows(IOException.class, () -> ArenaBot.Codec.decode(deeper));
    }

    @Test
    void writesNothingThatIsNotInTheProtocol() {
        var error = assertThrows(
                IllegalArgumentException.class, () -> ArenaBot.Codec.encode(Map.of("type", "action", "action", 0.5)));
        assertTrue(error.getMessage().endsWith("got: class java.lang.Double"), error.getMessage());
    }

    private static void assertHolds(Object expected, ArenaBot.Data got, boolean exactly) {
        if (expected instanceof Map<?, ?> map) {
            if (exactly) {
                assertEquals(map.keySet(), got.map().keySet());
            }
            map.forEach((key, value) -> {
                assertTrue(got.map().containsKey(key), "no " + key);
                assertHolds(value, got.get((String) key), exactly);
            });
        } else if (expected instanceof List<?> list) {
            assertEquals(list.size(), got.list().size());
            for (int i = 0; i < list.size(); i++) {
                assertHolds(list.get(i), got.get(i), exactly);
            }
        } else if (expected instanceof Number number) {
            assertEquals(number.longValue(), got.longNumber());
        } else if (expected instanceof Boolean truth) {
            assertEquals(truth, got.truth());
        } else if (expected == null) {
            assertTrue(got.isNil());
        } else {
            assertEquals(expected, got.text());
        }
    }

    private static Stream<Vector> vectors(String kind, String from) throws IOException {
        List<Vector> vectors = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(VECTORS.resolve(kind), "*.json")) {
            for (Path file : files) {
                Map<String, Object> page = JSON.std.mapFrom(Files.readString(file));
                for (Object entry : (List<?>) page.get("vectors")) {
                    Map<?, ?> vector = (Map<?, ?>) entry;
                    Map<?, ?> decoded = (Map<?, ?>) vector.get("decoded");
                    byte[] frame = frame((String) vector.get("hex"));
                    String sender = (String) vector.get("from");
                    vectors.add(new Vector((String) vector.get("id"), sender, frame, decoded == null, decoded));
                }
            }
        }
        return vectors.stream().filter(vector -> vector.from().equals(from));
    }

    /** The bytes of parts in hex, separated by blanks, of which `hex*count` repeats. */
    private static byte[] frame(String parts) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (String part : parts.split(" ")) {
            String[] repeated = part.split("\\*");
            byte[] once = HexFormat.of().parseHex(repeated[0]);
            for (int left = repeated.length == 1 ? 1 : Integer.parseInt(repeated[1]); left > 0; left--) {
                bytes.write(once);
            }
        }
        return bytes.toByteArray();
    }
}
