// Plays Samurai: what gains most at once, by a count of influence. `bots/README.md` specifies it number by number.

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The bot greedy-java. */
final class GreedyBot extends ArenaBot {
    private static final List<String> HAND = List.of("samurai3", "samurai2", "samurai2", "ship2", "ronin1");

    private Board board;

    GreedyBot() {
        super("greedy-java", "1.0", "view", "legal");
    }

    public static void main(String[] args) {
        run(new GreedyBot());
    }

    @Override
    public void start(Data game) {
        board = new Board(game);
    }

    @Override
    public Answer decide(Data request) {
        Data view = request.get("view");
        Data legal = request.get("legal");
        String kind = request.get("kind").text();
        return switch (kind) {
            case "hand" -> new Answer(Map.of("plays", List.of(Map.of("hand", HAND))), "strength for every caste");
            case "setup" -> setup(view, legal);
            case "turn" -> turn(view, legal);
            default -> throw new IllegalStateException("expected a request of kind hand, setup or turn, got: " + kind);
        };
    }

    /** Put a caste near pieces of its own, so that one tile serves two; else keep the supply even. */
    private Answer setup(Data view, Data legal) {
        Position position = new Position(board, view);
        int best = Integer.MIN_VALUE;
        Caste bestCaste = null;
        int bestSpace = 0;
        for (Data product : legal.list()) {
            for (Data name : product.get("caste").list()) {
                for (Data number : product.get("space").list()) {
                    Caste caste = Caste.of(name);
                    int space = number.number();
                    int score = view.get("supply").get(caste.wire).number() + 2 * kin(position, space, caste);
                    int byCaste = bestCaste == null ? -1 : caste.compareTo(bestCaste);
                    if (score > best || score == best && (byCaste < 0 || byCaste == 0 && space < bestSpace)) {
                        best = score;
                        bestCaste = caste;
                        bestSpace = space;
                    }
                }
            }
        }
        checkFound(bestCaste != null);
        Map<String, Object> play = Map.of("caste", bestCaste.wire, "space", bestSpace);
        return new Answer(Map.of("plays", List.of(play)), "score " + best);
    }

    /** The ways to walk over one space from a settlement to another with a piece of the caste. */
    private int kin(Position position, int settlement, Caste caste) {
        int ways = 0;
        for (int around : board.neighbours[settlement]) {
            for (int other : board.beside[around]) {
                if (other != settlement && position.hasPiece(other, caste)) {
                    ways++;
                }
            }
        }
        return ways;
    }

    /** Take the play with the highest score, then others as long as they gain. */
    private Answer turn(Data view, Data legal) {
        Position position = new Position(board, view);
        List<Tile> hand =
                view.get("hand").list().stream().map(Tile::of).collect(Collectors.toCollection(ArrayList::new));
        List<Play> candidates = Play.all(legal);
        List<Map<String, Object>> plays = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        while (!candidates.isEmpty()) {
            Play best = null;
            int bestScore = 0;
            for (Play play : candidates) {
                int score = position.score(play);
                if (best == null || score > bestScore || score == bestScore && play.compareTo(best) < 0) {
                    best = play;
                    bestScore = score;
                }
            }
            if (!plays.isEmpty() && bestScore <= 0) {
                break;
            }
            plays.add(best.wire());
            notes.add(best.wire().values().stream().map(Object::toString).collect(Collectors.joining(" "))
                    + " %+d".formatted(bestScore));
            position.make(best);
            if (board.isInstant && position.captures()) {
                break; // pieces have gone: other plays are legal now
            }
            hand.remove(best.tile());
            candidates = remaining(candidates, hand, best);
        }
        checkFound(!plays.isEmpty());
        return new Answer(Map.of("plays", plays), String.join("; ", notes));
    }

    private static void checkFound(boolean found) {
        if (!found) {
            throw new IllegalStateException("expected a request with a legal play, got: none");
        }
    }

    /** Those of a turn's plays that are still legal after {@code made}, with these tiles left in hand. */
    private List<Play> remaining(List<Play> plays, List<Tile> hand, Play made) {
        return plays.stream()
                .filter(play -> hand.contains(play.tile()))
                .filter(play -> board.follows(play.tile(), made.tile()))
                .filter(play -> play.fills() < 0 || play.fills() != made.fills())
                .toList();
    }
}
