// Plays by chance, any game: one play a request, and every legal one is equally likely.

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
        return new Answer(Map.of("plays", List.of(pick(request.get("legal").list()))));
    }

    /**
     * Returns one of the plays that can be made of some products, each as likely as any other: first a product, the
     * likelier the more plays it makes, then a value for each key.
     */
    Map<String, Object> pick(List<Data> products) {
        double left = random.nextDouble() * products.stream().mapToDouble(RandomBot::plays).sum();
        Data chosen = null;
        for (Data product : products) {
            if (left >= 0 && plays(product) > 0) {
                chosen = product;
            }
            left -= plays(product);
        }
        if (chosen == null) {
            throw new IllegalStateException("expected a request with a legal play, got: none");
        }
        Map<String, Object> play = new TreeMap<>(chosen.map()); // in order of name: a map's keys have no order
        play.replaceAll((key, values) -> choose((Data) values));
        return play;
    }

    /** Returns one of the values of a key, or several where the product says so. */
    private Object choose(Data values) {
        if (!values.isMap()) {
            return values.get(random.nextInt(values.list().size()));
        }
        int count = values.get("choose").number();
        List<Data> shuffled = new ArrayList<>(values.get("of").list());
        for (int i = 0; i < count; i++) {
            Collections.swap(shuffled, i, random.nextInt(i, shuffled.size()));
        }
        return shuffled.subList(0, count);
    }

    /** Returns how many plays a product makes. */
    private static double plays(Data product) {
        return product.map().values().stream().mapToDouble(RandomBot::ways).reduce(1, (one, other) -> one * other);
    }

    /** Returns how many choices the values of a key offer. */
    private static double ways(Data values) {
        if (!values.isMap()) {
            return values.list().size();
        }
        int size = values.get("of").list().size();
        double count = 1;
        for (int i = 0; i < values.get("choose").number(); i++) {
            count = count * (size - i) / (i + 1);
        }
        return count;
    }
}
