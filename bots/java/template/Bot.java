// A bot to begin with: it takes the first legal play of each request, in whichever game.

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

    /**
     * Your own idea goes here: which of the legal plays?
     *
     * <p>Samurai asks for the tiles of the first "hand", for a piece to put on the board in the "setup", and for the
     * plays of each "turn"; Gardener for a card to "seize", for where to "plant" it, and for the rows to "score". Where
     * plays or rows are a list, one is always enough.
     */
    @Override
    public Answer decide(Data request) {
        String kind = request.get("kind").text();
        Data legal = request.get("legal");
        Object action =
                switch (kind) {
                    case "hand" -> Map.of("hand", hand(legal));
                    case "turn" -> Map.of("plays", List.of(first(legal.get("plays"))));
                    case "score" -> Map.of("rows", List.of(first(legal.get("score"))));
                    default -> first(legal.get(kind));
                };
        return new Answer(action, "the first will do"); // the note is kept in the log; no opponent sees it
    }

    /** The first of the tiles that are offered. */
    private static List<Data> hand(Data legal) {
        return legal.get("hand").list().subList(0, legal.get("choose").number());
    }

    /**
     * The first legal play. Legal plays are an array of products; each is a map from keys to the values they may have,
     * and one value for each key makes a play.
     */
    private static Map<String, Data> first(Data products) {
        Map<String, Data> play = new TreeMap<>();
        products.get(0).map().forEach((key, values) -> play.put(key, values.get(0)));
        return play;
    }
}
