// Plays Samurai by chance: one play a request, and every legal one is equally likely.

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** The bot random-java. */
final class RandomBot extends ArenaBot {
    private SplittableRandom random;

    RandomBot() {
        super("random-java", "1.0", "legal");
    }

    public static void main(String[] args) {
        run(new RandomBot());
    }

    @Override
    public void start(Data game) {
        random = new SplittableRandom(game.get("bot_seed").longNumber());
    }

    @Override
    public Answer decide(Data request) {
        String kind = request.get("kind").text();
        Data legal = request.get("legal");
        return new Answer(
                switch (kind) {
                    case "hand" -> Map.of("hand", sample(legal));
                    case "turn" -> Map.of("plays", List.of(pick(legal.get("plays"))));
                    default -> pick(legal.get(kind));
                });
    }

    private List<Data> sample(Data legal) {
        int count = legal.get("choose").number();
        List<Data> shuffled = new ArrayList<>(legal.get("hand").list());
        for (int i = 0; i < count; i++) {
            Collections.swap(shuffled, i, random.nextInt(i, shuffled.size()));
        }
        return shuffled.subList(0, count);
    }

    /**
     * One of the combinations of all products, each as likely as any other. A product maps keys to lists of values: it
     * has a combination for each choice of one value for each key.
     */
    private Map<String, Data> pick(Data products) {
        int all = products.list().stream().mapToInt(RandomBot::combinations).sum();
        int index = random.nextInt(all);
        int at = 0;
        while (index >= combinations(products.get(at))) {
            index -= combinations(products.get(at++));
        }
        Map<String, Data> play = new TreeMap<>(products.get(at).map()); // a map's keys have no order of their own
        for (var entry : play.entrySet()) {
            List<Data> values = entry.getValue().list();
            entry.setValue(values.get(index % values.size()));
            index /= values.size();
        }
        return play;
    }

    private static int combinations(Data product) {
        return product.map().values().stream()
                .mapToInt(values -> values.list().size())
                .reduce(1, Math::multiplyExact);
    }
}
