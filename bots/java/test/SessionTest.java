import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The client's session with a referee, over a real socket. */
final class SessionTest {
    /** Answers with the request's own view, and keeps what it was told. */
    private static final class Echo extends ArenaBot {
        final List<String> told = new ArrayList<>();

        Echo() {
            super("echo", "2.5", "view", "events");
        }

        @Override
        public void start(Data game) {
            told.add("start " + game.get("bot_seed").longNumber());
        }

        @Override
        public Answer decide(Data request) {
            Data note = request.get("note");
            return new Answer(Map.of("echo", request.get("view")), note.isNil() ? null : note.text());
        }

        @Override
        public void over(Data result) {
            told.add("over " + result.get("termination").text());
        }
    }

    @Test
    void helloSaysWhoTheBotIsAndWhatItWants() throws Exception {
        try (Table table = new Table(new Echo())) {
            String expected =
                    "{type=hello, token=token-of-this-test, protocol=1.0, name=echo, version=2.5, want=[view, events]}";
            assertEquals(expected, table.hello.toString());
        }
    }

    @Test
    void wholeSession() throws Exception {
        Echo bot = new Echo();
        try (Table table = new Table(bot)) {
            table.send("welcome", "protocol", "1.0", "max_note", 1024);
            for (int game = 1; game <= 2; game++) {
                table.send("game_start", "game", game, "bot_seed", (1L << 53) - game);
                assertEquals(
                        "{type=ready, game=%d}".formatted(game), table.receive().toString());
                table.send("from_a_later_version", "id", 1);
                table.send("request", "id", game, "view", List.of(1, "two", true));
                String action = "{type=action, id=%d, action={echo=[1, two, true]}, note=null}";
                assertEquals(action.formatted(game), table.receive().toString());
                table.send("game_over", "game", game, "termination", "finished");
            }
            table.send("goodbye", "reason", "done");
            assertEquals(0, table.status());
            assertEquals("", table.err());
        }
        String last = "over finished";
        assertEquals(List.of("start 9007199254740991", last, "start 9007199254740990", last), bot.told);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 250, 256, 60_000, 500_000})
    void messagesOfEveryLength(int length) throws Exception {
        try (Table table = new Table(new Echo())) {
            table.send("request", "id", 1, "view", "x".repeat(length));
            assertEquals(
                    length, table.receive().get("action").get("echo").text().length());
        }
    }

    @ParameterizedTest
    @CsvSource({"a€€, a€", "€€€, €", "a😀b, a😀", "aa€😀, aa€", "abcdef, abcde", "'', ''"})
    void noteIsCutBetweenCharacters(String note, String cut) throws Exception {
        try (Table table = new Table(new Echo())) {
            table.send("welcome", "protocol", "1.7", "max_note", 5);
            table.send("request", "id", 1, "view", Map.of(), "note", note);
            assertEquals(cut, table.receive().get("note").text());
        }
    }

    @Test
    void halfACharacterInANoteIsReplaced() {
        assertEquals("a?b", ArenaBot.cut("a\uD83Db", 1024));
    }

    @Test
    void aComplaintOfTheRefereeEndsTheSession() throws Exception {
        try (Table table = new Table(new Echo())) {
            table.send("error", "code", "timeout", "message", "seat 0 exceeded its time by 240 ms");
            assertEquals(1, table.status());
            assertEquals("referee: timeout: seat 0 exceeded its time by 240 ms%n".formatted(), table.err());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "c1", "9301", "ddffffffff", "dfffffffff", "dbffffffff", "a474797065", "80", "81a47479706501"
            })
    void endsOnAFrameThatIsNoMessage(String hex) throws Exception {
        try (Table table = new Table(new Echo())) {
            table.sendFrames(HexFormat.of().parseHex(hex));
            assertEquals(1, table.status());
            String said = "expected one msgpack map with a type in each frame, got: %d bytes that are none%n";
            assertEquals(said.formatted(hex.length() / 2), table.err());
        }
    }

    @Test
    void endsOnAMessageOfSeveralFrames() throws Exception {
        try (Table table = new Table(new Echo())) {
            table.sendFrames(new byte[] {1}, new byte[] {2});
            assertEquals(1, table.status());
            assertEquals("expected messages of one frame of at most 1048576 bytes%n".formatted(), table.err());
        }
    }

    @Test
    void endsOnAFrameThatIsTooLong() throws Exception {
        try (Table table = new Table(new Echo())) {
            table.sendFrames(new byte[(1 << 20) + 1]);
            assertEquals(1, table.status());
            assertEquals("expected messages of one frame of at most 1048576 bytes%n".formatted(), table.err());
        }
    }

    @Test
    void endsWhenTheRefereeIsGone() throws Exception {
        Table table = new Table(new Echo());
        table.close();
        assertEquals(1, table.status());
        assertEquals("the referee closed the connection%n".formatted(), table.err());
    }

    @Test
    void endsWithATraceOfWhatTheBotThrows() throws Exception {
        try (Table table = new Table(new Echo())) {
            table.send("game_start", "game", 1, "bot_seed", "seven");
            assertEquals(1, table.status());
            assertTrue(
                    table.err().startsWith("java.lang.IllegalStateException: expected an integer, got: seven"),
                    table.err());
            assertTrue(table.err().contains("at SessionTest$Echo.start(SessionTest.java:"), table.err());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ftp://here, 'expected an endpoint ipc://PATH or tcp://HOST:PORT, got: ftp://here'",
        "tcp://127.0.0.1, 'cannot connect to tcp://127.0.0.1: '",
        "ipc://no/such/socket, 'cannot connect to ipc://no/such/socket: '",
    })
    void endsWhereNobodyIs(String endpoint, String said) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        assertEquals(1, ArenaBot.play(new Echo(), endpoint, "token", new PrintStream(err)));
        String words = err.toString(StandardCharsets.UTF_8);
        assertTrue(words.startsWith(said), words);
    }

    @Test
    void endsOutsideOfTheArena() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        assertEquals(1, ArenaBot.play(new Echo(), null, null, new PrintStream(err)));
        assertTrue(err.toString(StandardCharsets.UTF_8).startsWith("expected ARENA_ENDPOINT and ARENA_TOKEN"));
    }
}
