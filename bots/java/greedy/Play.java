import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A play of a turn. Of plays with equal scores, the smallest is chosen: they compare as their keys do. */
sealed interface Play extends Comparable<Play> {
    Tile tile();

    /** The numbers by which plays of a tile compare. */
    int[] key();

    /** The space that it fills, or -1. */
    int fills();

    /** The play as an action holds it. */
    Map<String, Object> wire();

    @Override
    default int compareTo(Play other) {
        int byTile = tile().compareTo(other.tile());
        return byTile != 0 ? byTile : Arrays.compare(key(), other.key());
    }

    /** A tile of the hand goes to a space. */
    record Place(Tile tile, int space) implements Play {
        @Override
        public int[] key() {
            return new int[] {space};
        }

        @Override
        public int fills() {
            return space;
        }

        @Override
        public Map<String, Object> wire() {
            return entries("tile", tile.wire, "space", space);
        }
    }

    /** A tile on the board goes to another space, and the move tile to where it was. */
    record Move(int from, int to) implements Play {
        @Override
        public Tile tile() {
            return Tile.MOVE;
        }

        @Override
        public int[] key() {
            return new int[] {from, to};
        }

        @Override
        public int fills() {
            return to;
        }

        @Override
        public Map<String, Object> wire() {
            return entries("tile", "move", "from", from, "to", to);
        }
    }

    /** Two pieces change places. */
    record Switch(int space, Caste caste, int with, Caste withCaste) implements Play {
        @Override
        public Tile tile() {
            return Tile.SWITCH;
        }

        @Override
        public int[] key() {
            return new int[] {space, caste.ordinal(), with, withCaste.ordinal()};
        }

        @Override
        public int fills() {
            return -1;
        }

        @Override
        public Map<String, Object> wire() {
            return entries(
                    "tile", "switch", "space", space, "caste", caste.wire, "with", with, "with_caste", withCaste.wire);
        }
    }

    /** The legal first plays of a turn: of each product, every combination of one value for each key. */
    static List<Play> all(ArenaBot.Data products) {
        List<Play> plays = new ArrayList<>();
        for (ArenaBot.Data product : products.list()) {
            for (ArenaBot.Data name : product.get("tile").list()) {
                Tile tile = Tile.of(name);
                switch (tile) {
                    case SWITCH -> addSwitches(plays, product);
                    case MOVE -> addMoves(plays, product);
                    default -> product.get("space").list().forEach(space -> plays.add(new Place(tile, space.number())));
                }
            }
        }
        return plays;
    }

    private static void addMoves(List<Play> plays, ArenaBot.Data product) {
        for (ArenaBot.Data from : product.get("from").list()) {
            for (ArenaBot.Data to : product.get("to").list()) {
                plays.add(new Move(from.number(), to.number()));
            }
        }
    }

    private static void addSwitches(List<Play> plays, ArenaBot.Data product) {
        for (ArenaBot.Data caste : product.get("caste").list()) {
            for (ArenaBot.Data withCaste : product.get("with_caste").list()) {
                for (ArenaBot.Data space : product.get("space").list()) {
                    for (ArenaBot.Data with : product.get("with").list()) {
                        plays.add(new Switch(space.number(), Caste.of(caste), with.number(), Caste.of(withCaste)));
                    }
                }
            }
        }
    }

    private static Map<String, Object> entries(Object... keysAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return map;
    }
}
