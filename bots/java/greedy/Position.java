import java.util.Arrays;

/** What lies on the board, and the score of plays there as one seat sees it. */
final class Position {
    /** What a piece is worth, by empty land spaces around (4 or more are one row) and by lead, from -6 to 6. */
    private static final int[][] WORTH = {
        {-600, -600, -600, -600, -600, -600, 0, 600, 600, 600, 600, 600, 600},
        {-420, -360, -330, -300, -270, -240, -180, -60, 0, 60, 150, 300, 420},
        {-300, -260, -220, -180, -130, -60, 0, 70, 140, 200, 250, 290, 320},
        {-250, -210, -170, -130, -90, -45, 0, 50, 100, 150, 190, 230, 260},
        {-210, -175, -140, -105, -70, -35, 0, 40, 80, 115, 150, 180, 210},
    };

    private static final Caste[] CASTES = Caste.values();

    private final Board board;

    /** By space and caste: whether a piece of the caste lies there. */
    private final boolean[][] piece;

    /** By space: the tile there, or null, and whose it is. */
    private final Tile[] tile;

    private final int[] owner;

    /** By settlement: the land spaces around it that hold no tile. */
    private final int[] empty;

    /** By settlement and caste: this seat's influence minus that of its strongest rival. */
    private final int[][] lead;

    /** The position that a request's view shows. */
    Position(Board board, ArenaBot.Data view) {
        int spaces = board.neighbours.length;
        this.board = board;
        piece = new boolean[spaces][CASTES.length];
        tile = new Tile[spaces];
        owner = new int[spaces];
        empty = new int[spaces];
        lead = new int[spaces][CASTES.length];
        for (Caste caste : CASTES) {
            for (ArenaBot.Data space : view.get("pieces").get(caste.wire).list()) {
                piece[space.number()][caste.ordinal()] = true;
            }
        }
        for (ArenaBot.Data entry : view.get("tiles").list()) {
            put(entry.get(0).number(), entry.get(1).number(), Tile.of(entry.get(2)));
        }
        weigh();
    }

    /** Whether a piece of a caste lies on a space. */
    boolean hasPiece(int space, Caste caste) {
        return piece[space][caste.ordinal()];
    }

    /** Whether a settlement with pieces is surrounded. */
    boolean captures() {
        for (int space = 0; space < piece.length; space++) {
            for (Caste caste : CASTES) {
                if (hasPiece(space, caste) && empty[space] == 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** What a play gains, less what its tile costs. */
    int score(Play play) {
        return gain(play) - play.tile().cost;
    }

    /** Make a play of this seat. */
    void make(Play play) {
        if (play instanceof Play.Place place) {
            put(place.space(), board.seat, place.tile());
        } else if (play instanceof Play.Move move) {
            put(move.to(), board.seat, tile[move.from()]);
            put(move.from(), board.seat, Tile.MOVE);
        } else if (play instanceof Play.Switch swap) {
            piece[swap.space()][swap.caste().ordinal()] = false;
            piece[swap.with()][swap.withCaste().ordinal()] = false;
            piece[swap.space()][swap.withCaste().ordinal()] = true;
            piece[swap.with()][swap.caste().ordinal()] = true;
        }
        weigh();
    }

    private void put(int space, int seat, Tile placed) {
        tile[space] = placed;
        owner[space] = seat;
    }

    /** Count influence anew, after pieces or tiles have changed. */
    private void weigh() {
        for (int space = 0; space < piece.length; space++) {
            if (board.isSettlement[space]) {
                weigh(space);
            }
        }
    }

    private void weigh(int settlement) {
        int[][] totals = new int[CASTES.length][board.seats];
        empty[settlement] = 0;
        for (int space : board.neighbours[settlement]) {
            if (tile[space] != null) {
                for (Caste caste : CASTES) {
                    totals[caste.ordinal()][owner[space]] += tile[space].value(caste);
                }
            } else if (board.isLand[space]) {
                empty[settlement]++;
            }
        }
        for (int caste = 0; caste < CASTES.length; caste++) {
            int own = totals[caste][board.seat];
            totals[caste][board.seat] = 0;
            lead[settlement][caste] = own - Arrays.stream(totals[caste]).max().getAsInt();
        }
    }

    private int gain(Play play) {
        if (play instanceof Play.Switch swap) {
            return worth(swap.space(), swap.withCaste(), 0, 0)
                    - worth(swap.space(), swap.caste(), 0, 0)
                    + worth(swap.with(), swap.caste(), 0, 0)
                    - worth(swap.with(), swap.withCaste(), 0, 0);
        }
        if (play instanceof Play.Move move) {
            return gain(tile[move.from()], board.beside[move.from()], board.beside[move.to()], 1);
        }
        int space = play.fills();
        return gain(play.tile(), new int[0], board.beside[space], board.isLand[space] ? 1 : 0);
    }

    /** The gain where a tile leaves some settlements, and fills a land (1) or a sea space (0) next to others. */
    private int gain(Tile moved, int[] left, int[] reached, int filled) {
        int gain = 0;
        for (int settlement : reached) {
            gain += change(settlement, moved, contains(left, settlement) ? 0 : 1, filled);
        }
        for (int settlement : left) {
            if (!contains(reached, settlement)) {
                gain += change(settlement, moved, -1, 0);
            }
        }
        return gain;
    }

    /** The gain at a settlement where a tile's influence is added (1), stays (0) or goes (-1). */
    private int change(int settlement, Tile moved, int added, int filled) {
        int gain = 0;
        for (Caste caste : CASTES) {
            if (hasPiece(settlement, caste)) {
                gain += worth(settlement, caste, added * moved.value(caste), filled) - worth(settlement, caste, 0, 0);
            }
        }
        return gain;
    }

    /** What a piece is worth where a lead grows by {@code more} and {@code filled} land spaces are filled. */
    private int worth(int settlement, Caste caste, int more, int filled) {
        int leading = lead[settlement][caste.ordinal()] + more;
        return WORTH[Math.min(empty[settlement] - filled, 4)][Math.max(-6, Math.min(6, leading)) + 6];
    }

    private static boolean contains(int[] spaces, int space) {
        for (int one : spaces) {
            if (one == space) {
                return true;
            }
        }
        return false;
    }
}
