import java.util.Locale;

/** A caste of pieces. */
enum Caste {
    BUDDHA,
    RICE,
    CASTLE;

    /** The caste as the messages write it. */
    final String wire = name().toLowerCase(Locale.ROOT);

    /** The caste that a message names. */
    static Caste of(ArenaBot.Data name) {
        return valueOf(name.text().toUpperCase(Locale.ROOT));
    }
}
