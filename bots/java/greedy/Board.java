import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** The board of a game and those of its options that matter here, from the message game_start. */
final class Board {
    private static final Set<String> SETTLEMENTS = Set.of("village", "city", "edo");

    final int seat;
    final int seats;

    /** Whether pieces are captured within a turn, which changes what else can be played. */
    final boolean isInstant;

    final boolean[] isLand;
    final boolean[] isSettlement;

    /** The spaces next to each space. */
    final int[][] neighbours;

    /** The settlements next to a space that takes tiles; none for a settlement. */
    final int[][] beside;

    private final boolean isMoveFast;

    /** Only switch and move are fast, and nothing follows another tile. */
    private final boolean onlySpecials;

    Board(ArenaBot.Data game) {
        ArenaBot.Data options = game.get("options");
        List<ArenaBot.Data> spaces = game.get("board").get("spaces").list();
        seat = game.get("seat").number();
        seats = game.get("seats").number();
        isInstant = options.get("captures").text().equals("instant");
        onlySpecials = options.get("fast").text().equals("specials");
        isMoveFast = options.get("move_is_fast").text().equals("yes");
        isLand = new boolean[spaces.size()];
        isSettlement = new boolean[spaces.size()];
        neighbours = new int[spaces.size()][];
        beside = new int[spaces.size()][];
        for (int i = 0; i < spaces.size(); i++) {
            String kind = spaces.get(i).get("kind").text();
            isLand[i] = kind.equals("land");
            isSettlement[i] = SETTLEMENTS.contains(kind);
            neighbours[i] = spaces.get(i).get("neighbours").list().stream()
                    .mapToInt(ArenaBot.Data::number)
                    .toArray();
        }
        for (int i = 0; i < spaces.size(); i++) {
            beside[i] = isSettlement[i]
                    ? new int[0]
                    : Arrays.stream(neighbours[i])
                            .filter(near -> isSettlement[near])
                            .toArray();
        }
    }

    boolean isFast(Tile tile) {
        if (onlySpecials) {
            return tile == Tile.SWITCH || tile == Tile.MOVE;
        }
        return tile.isFast() || (tile == Tile.MOVE && isMoveFast);
    }

    /** Whether a tile may follow another in a turn. */
    boolean follows(Tile tile, Tile made) {
        return isFast(made) || (isFast(tile) && !onlySpecials);
    }
}
