// A bot for any game: it takes the first legal play of each request.

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

final class Bot extends ArenaBot {
    Bot() {
        super("first", "0.1", "legal"); // "view" shows what your seat may know, "events" what has happened
    }

    public static void main(String[] args) {
        run(new Bot());
    }

    /** Answers a request. Your own idea goes here: which of the legal plays? */
    @Override
    public Answer decide(Data request) {
        Map<String, Object> play = firstPlay(request.get("legal"));
        // The note is kept in the log; no opponent sees it during the game.
        return new Answer(Map.of("plays", List.of(play)), "the first will do");
    }

    /**
     * Returns the first legal play. The legal plays are an array of products; a product has, for each key of a play,
     * the values to choose from.
     */
    private static Map<String, Object> firstPlay(Data legal) {
        Map<String, Object> play = new TreeMap<>();
        legal.get(0).map().forEach((key, values) -> play.put(key, first(values)));
        return play;
    }

    /** Returns the first of some values; several where the product says {"choose": n, "of": [...]}. */
    private static Object first(Data values) {
        if (values.isMap()) {
            return values.get("of").list().subList(0, values.get("choose").number());
        }
        return values.get(0);
    }
}
