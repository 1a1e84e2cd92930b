import java.util.Locale;

/** A kind of tile, in tile order. */
enum Tile {
    BUDDHA2(30),
    BUDDHA3(60),
    BUDDHA4(100),
    RICE2(30),
    RICE3(60),
    RICE4(100),
    CASTLE2(30),
    CASTLE3(60),
    CASTLE4(100),
    SAMURAI1(15),
    SAMURAI2(60),
    SAMURAI3(120),
    SHIP1(30),
    SHIP2(60),
    RONIN1(45),
    SWITCH(150),
    MOVE(150);

    /** What it costs to give it away. */
    final int cost;

    /** The tile as the messages write it. */
    final String wire = name().toLowerCase(Locale.ROOT);

    private final int[] values = new int[Caste.values().length];

    Tile(int cost) {
        this.cost = cost;
        char last = name().charAt(name().length() - 1);
        boolean isOfCaste = false;
        for (Caste caste : Caste.values()) {
            if (name().startsWith(caste.name())) {
                values[caste.ordinal()] = last - '0';
                isOfCaste = true;
            }
        }
        if (!isOfCaste && Character.isDigit(last)) {
            java.util.Arrays.fill(values, last - '0');
        }
    }

    /** The tile that a message names. */
    static Tile of(ArenaBot.Data name) {
        return valueOf(name.text().toUpperCase(Locale.ROOT));
    }

    /** What it counts for a caste. */
    int value(Caste caste) {
        return values[caste.ordinal()];
    }

    /** Whether it is fast by the table of tiles; {@link Board#isFast} knows those of a game. */
    boolean isFast() {
        return switch (this) {
            case SHIP1, SHIP2, RONIN1, SWITCH -> true;
            default -> false;
        };
    }
}
