import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What random picks of legal plays. */
final class RandomTest {
    private static final List<?> PRODUCTS = List.of(
            Map.of("tile", List.of("rice2", "rice3"), "space", List.of(1, 2, 3)),
            Map.of("hand", Map.of("choose", 2, "of", List.of("a", "b", "c"))),
            Map.of("hand", Map.of("choose", 0, "of", List.of("a"))));

    private static RandomBot seeded(long seed) throws IOException {
        RandomBot bot = new RandomBot();
        bot.start(data(Map.of("bot_seed", seed)));
        return bot;
    }

    private static ArenaBot.Data data(Map<String, ?> fields) throws IOException {
        Map<String, Object> message = new TreeMap<>(fields);
        message.put("type", "test");
        return ArenaBot.Codec.decode(ArenaBot.Codec.encode(message));
    }

    private static List<ArenaBot.Data> products(List<?> products) throws IOException {
        return data(Map.of("legal", products)).get("legal").list();
    }

    @Test
    void everyPlayIsEquallyLikely() throws IOException {
        RandomBot bot = seeded(1);
        Map<String, Integer> counts = new TreeMap<>();
        for (int i = 0; i < 10_000; i++) {
            Map<String, Object> play = bot.pick(products(PRODUCTS));
            play.computeIfPresent("hand", (key, hand) -> ((List<?>) hand)
                    .stream().map(Object::toString).sorted().toList());
            counts.merge(play.toString(), 1, Integer::sum);
        }
        assertEquals(10, counts.size(), counts.toString());
        assertTrue(counts.values().stream().allMatch(count -> 880 < count && count < 1120), counts.toString());
    }

    @Test
    void theSameSeedBringsTheSamePlays() throws IOException {
        assertEquals(plays(7), plays(7));
        assertNotEquals(plays(7), plays(8));
    }

    private static List<String> plays(long seed) throws IOException {
        RandomBot bot = seeded(seed);
        List<ArenaBot.Data> products = products(PRODUCTS);
        return IntStream.range(0, 20)
                .mapToObj(i -> bot.pick(products).toString())
                .toList();
    }

    @Test
    void noLegalPlayIsAnError() throws IOException {
        RandomBot bot = seeded(7);
        for (List<?> legal : List.of(List.of(), List.of(Map.of("tile", List.of())))) {
            List<ArenaBot.Data> products = products(legal);
            assertThrows(IllegalStateException.class, () -> bot.pick(products));
        }
    }
}
