/* Plays what gains most at once, by a count of influence. `bots/README.md` specifies it number by number. */

#include <stdarg.h>

#include "arena_bot.h"

enum { CASTES = 3, TILES = 17, SWITCH = 15, MOVE = 16, NO_TILE = -1 };
enum { MAX_SPACES = 256, MAX_NEAR = 8, MAX_SEATS = 8, MAX_HAND = 32, HAND = 5 };

static const char *const CASTE[CASTES] = {"buddha", "rice", "castle"};

static const struct {
    const char *name;
    int value[CASTES];
    bool fast; /* By the table of tiles: see is_fast. */
    int cost;  /* What it costs to give the tile away. */
} TILE[TILES] = {
    {"buddha2", {2, 0, 0}, false, 30},  {"buddha3", {3, 0, 0}, false, 60},  {"buddha4", {4, 0, 0}, false, 100},
    {"rice2", {0, 2, 0}, false, 30},    {"rice3", {0, 3, 0}, false, 60},    {"rice4", {0, 4, 0}, false, 100},
    {"castle2", {0, 0, 2}, false, 30},  {"castle3", {0, 0, 3}, false, 60},  {"castle4", {0, 0, 4}, false, 100},
    {"samurai1", {1, 1, 1}, false, 15}, {"samurai2", {2, 2, 2}, false, 60}, {"samurai3", {3, 3, 3}, false, 120},
    {"ship1", {1, 1, 1}, true, 30},     {"ship2", {2, 2, 2}, true, 60},     {"ronin1", {1, 1, 1}, true, 45},
    {"switch", {0, 0, 0}, true, 150},   {"move", {0, 0, 0}, false, 150},
};

/* The first hand. */
static const char *const FIRST_HAND[HAND] = {"samurai3", "samurai2", "samurai2", "ship2", "ronin1"};

/* What a piece is worth to a seat, by empty land spaces around (4 or more are one row) and by lead, from -6 to 6. */
static const int WORTH[5][13] = {
    {-600, -600, -600, -600, -600, -600, 0, 600, 600, 600, 600, 600, 600},
    {-420, -360, -330, -300, -270, -240, -180, -60, 0, 60, 150, 300, 420},
    {-300, -260, -220, -180, -130, -60, 0, 70, 140, 200, 250, 290, 320},
    {-250, -210, -170, -130, -90, -45, 0, 50, 100, 150, 190, 230, 260},
    {-210, -175, -140, -105, -70, -35, 0, 40, 80, 115, 150, 180, 210},
};

typedef struct {
    int count;
    int at[MAX_NEAR];
} NearList;

/* The board of a game, and those of its options that matter here. */
typedef struct {
    int spaces, seats, seat;
    bool specials; /* Only switch and move are fast, and nothing follows another tile. */
    bool move_is_fast;
    bool instant; /* Pieces are captured within a turn. */
    bool is_land[MAX_SPACES], is_settlement[MAX_SPACES];
    NearList near[MAX_SPACES];
    NearList beside[MAX_SPACES]; /* The settlements next to a space that takes tiles; none for a settlement. */
} Board;

/* What lies on the board, and each settlement's balance of influence as this seat sees it. */
typedef struct {
    bool piece[MAX_SPACES][CASTES];
    int seat[MAX_SPACES], tile[MAX_SPACES];
    int empty[MAX_SPACES];        /* Land spaces around a settlement that hold no tile. */
    int lead[MAX_SPACES][CASTES]; /* This seat's influence there minus that of its strongest rival. */
} Position;

/* A play. `at` holds {space}, or {from, to} of a move, or {space, caste, with, with_caste} of a switch. The numbers in
 * order are its key: of plays with equal scores, the one with the smallest key is chosen. */
typedef struct {
    int tile, at[4];
} Play;

typedef struct {
    Play *list;
    size_t count, room;
} PlayList;

typedef struct {
    Board board;
    Position position;
    PlayList plays;
} Greedy;

/* Reading the request. A number that is no space of the board, an unknown name, and the like read as -1. */

static int caste_of(const msgpack_object *name) {
    for (int caste = 0; caste < CASTES; caste++)
        if (arena_is(name, CASTE[caste])) return caste;
    return -1;
}

static int tile_of(const msgpack_object *name) {
    for (int tile = 0; tile < TILES; tile++)
        if (arena_is(name, TILE[tile].name)) return tile;
    return -1;
}

static int space_of(const Board *board, const msgpack_object *number) {
    int64_t space = arena_int(number, -1);
    return space >= 0 && space < board->spaces ? (int)space : -1;
}

static bool start(void *self, const msgpack_object *game) {
    Board *board = &((Greedy *)self)->board;
    const msgpack_object *spaces = arena_get(arena_get(game, "board"), "spaces"), *options = arena_get(game, "options");
    int64_t seat = arena_int(arena_get(game, "seat"), -1), seats = arena_int(arena_get(game, "seats"), -1);
    if (arena_size(spaces) > MAX_SPACES || seats < 2 || seats > MAX_SEATS || seat < 0 || seat >= seats) {
        fprintf(stderr, "expected at most %d spaces and a seat of 2 to %d\n", MAX_SPACES, MAX_SEATS);
        return false;
    }
    memset(board, 0, sizeof *board);
    board->spaces = (int)arena_size(spaces);
    board->seats = (int)seats;
    board->seat = (int)seat;
    board->specials = arena_is(arena_get(options, "fast"), "specials");
    board->move_is_fast = arena_is(arena_get(options, "move_is_fast"), "yes");
    board->instant = arena_is(arena_get(options, "captures"), "instant");
    for (int i = 0; i < board->spaces; i++) {
        const msgpack_object *space = arena_at(spaces, (uint32_t)i), *kind = arena_get(space, "kind");
        const msgpack_object *neighbours = arena_get(space, "neighbours");
        board->is_land[i] = arena_is(kind, "land");
        board->is_settlement[i] = arena_is(kind, "village") || arena_is(kind, "city") || arena_is(kind, "edo");
        for (uint32_t n = 0; n < arena_size(neighbours) && n < MAX_NEAR; n++) {
            int other = space_of(board, arena_at(neighbours, n));
            if (other >= 0) board->near[i].at[board->near[i].count++] = other;
        }
    }
    for (int i = 0; i < board->spaces; i++)
        for (int n = 0; n < board->near[i].count && !board->is_settlement[i]; n++)
            if (board->is_settlement[board->near[i].at[n]])
                board->beside[i].at[board->beside[i].count++] = board->near[i].at[n];
    return true;
}

/* Count influence anew, after pieces or tiles have changed. */
static void weigh(Position *position, const Board *board) {
    for (int i = 0; i < board->spaces; i++) {
        if (!board->is_settlement[i]) continue;
        int totals[CASTES][MAX_SEATS] = {{0}};
        position->empty[i] = 0;
        for (int n = 0; n < board->near[i].count; n++) {
            int space = board->near[i].at[n], tile = position->tile[space];
            if (tile == NO_TILE)
                position->empty[i] += board->is_land[space];
            else
                for (int caste = 0; caste < CASTES; caste++)
                    totals[caste][position->seat[space]] += TILE[tile].value[caste];
        }
        for (int caste = 0; caste < CASTES; caste++) {
            int rival = 0;
            for (int seat = 0; seat < board->seats; seat++)
                if (seat != board->seat && totals[caste][seat] > rival) rival = totals[caste][seat];
            position->lead[i][caste] = totals[caste][board->seat] - rival;
        }
    }
}

static void read_view(Position *position, const Board *board, const msgpack_object *view) {
    memset(position, 0, sizeof *position);
    for (int i = 0; i < MAX_SPACES; i++) position->tile[i] = NO_TILE;
    for (int caste = 0; caste < CASTES; caste++) {
        const msgpack_object *spaces = arena_get(arena_get(view, "pieces"), CASTE[caste]);
        for (uint32_t i = 0; i < arena_size(spaces); i++) {
            int space = space_of(board, arena_at(spaces, i));
            if (space >= 0) position->piece[space][caste] = true;
        }
    }
    const msgpack_object *tiles = arena_get(view, "tiles");
    for (uint32_t i = 0; i < arena_size(tiles); i++) {
        const msgpack_object *entry = arena_at(tiles, i);
        int space = space_of(board, arena_at(entry, 0)), tile = tile_of(arena_at(entry, 2));
        int64_t seat = arena_int(arena_at(entry, 1), -1);
        if (space < 0 || tile < 0 || seat < 0 || seat >= board->seats) continue;
        position->tile[space] = tile;
        position->seat[space] = (int)seat;
    }
    weigh(position, board);
}

static bool add_play(PlayList *plays, Play play) {
    if (plays->count == plays->room) {
        size_t room = plays->room ? 2 * plays->room : 1024;
        Play *list = realloc(plays->list, room * sizeof *list);
        if (!list) return false;
        plays->list = list;
        plays->room = room;
    }
    plays->list[plays->count++] = play;
    return true;
}

/* The legal first plays: of each product, every combination of one value for each key. False when out of memory. */
static bool read_plays(PlayList *plays, const Board *board, const msgpack_object *products) {
    static const char *const PLACE_KEYS[] = {"space"}, *const MOVE_KEYS[] = {"from", "to"};
    static const char *const SWITCH_KEYS[] = {"space", "caste", "with", "with_caste"};
    plays->count = 0;
    for (uint32_t p = 0; p < arena_size(products); p++) {
        const msgpack_object *product = arena_at(products, p), *tiles = arena_get(product, "tile");
        for (uint32_t t = 0; t < arena_size(tiles); t++) {
            Play play = {.tile = tile_of(arena_at(tiles, t))};
            if (play.tile < 0) continue;
            int keys = play.tile == SWITCH ? 4 : play.tile == MOVE ? 2 : 1;
            const char *const *key = play.tile == SWITCH ? SWITCH_KEYS : play.tile == MOVE ? MOVE_KEYS : PLACE_KEYS;
            uint64_t combinations = 1;
            for (int k = 0; k < keys; k++) combinations *= arena_size(arena_get(product, key[k]));
            for (uint64_t index = 0; index < combinations; index++) {
                uint64_t rest = index;
                bool known = true;
                for (int k = 0; k < keys; k++) {
                    const msgpack_object *values = arena_get(product, key[k]);
                    const msgpack_object *value = arena_at(values, (uint32_t)(rest % arena_size(values)));
                    rest /= arena_size(values);
                    play.at[k] = keys == 4 && k % 2 == 1 ? caste_of(value) : space_of(board, value);
                    known = known && play.at[k] >= 0;
                }
                if (known && !add_play(plays, play)) return false;
            }
        }
    }
    return true;
}

/* Scoring. */

static int worth(const Position *position, int settlement, int caste, int more, int filled) {
    int empty = position->empty[settlement] - filled, lead = position->lead[settlement][caste] + more;
    return WORTH[empty < 0 ? 0 : empty > 4 ? 4 : empty][lead < -6 ? 0 : lead > 6 ? 12 : lead + 6];
}

/* The gain at a settlement where a tile's influence is added (1), stays (0) or goes (-1). */
static int change(const Position *position, int settlement, int tile, int added, int filled) {
    int gain = 0;
    for (int caste = 0; caste < CASTES; caste++)
        if (position->piece[settlement][caste])
            gain += worth(position, settlement, caste, added * TILE[tile].value[caste], filled) -
                    worth(position, settlement, caste, 0, 0);
    return gain;
}

static bool holds(const NearList *list, int space) {
    for (int i = 0; i < list->count; i++)
        if (list->at[i] == space) return true;
    return false;
}

static int gain(const Position *position, const Board *board, const Play *play) {
    const int *at = play->at;
    if (play->tile == SWITCH)
        return worth(position, at[0], at[3], 0, 0) - worth(position, at[0], at[1], 0, 0) +
               worth(position, at[2], at[1], 0, 0) - worth(position, at[2], at[3], 0, 0);
    int tile = play->tile, target = at[0], total = 0;
    const NearList none = {0}, *left = &none;
    if (play->tile == MOVE) {
        tile = position->tile[at[0]];
        target = at[1];
        left = &board->beside[at[0]];
        if (tile == NO_TILE) return 0;
    }
    const NearList *reached = &board->beside[target];
    for (int i = 0; i < reached->count; i++)
        total += change(position, reached->at[i], tile, 1 - holds(left, reached->at[i]), board->is_land[target]);
    for (int i = 0; i < left->count; i++)
        if (!holds(reached, left->at[i])) total += change(position, left->at[i], tile, -1, 0);
    return total;
}

static int compare(const Play *left, const Play *right) {
    if (left->tile != right->tile) return left->tile - right->tile;
    for (int i = 0; i < 4; i++)
        if (left->at[i] != right->at[i]) return left->at[i] - right->at[i];
    return 0;
}

/* The position after a play of this seat. */
static void make(Position *position, const Board *board, const Play *play) {
    const int *at = play->at;
    if (play->tile == SWITCH) {
        position->piece[at[0]][at[1]] = position->piece[at[2]][at[3]] = false;
        position->piece[at[0]][at[3]] = position->piece[at[2]][at[1]] = true;
    } else {
        if (play->tile == MOVE) {
            position->tile[at[1]] = position->tile[at[0]];
            position->seat[at[1]] = position->seat[at[0]];
        }
        position->tile[at[0]] = play->tile;
        position->seat[at[0]] = board->seat;
    }
    weigh(position, board);
}

/* The space that a play fills, or -1. */
static int filled(const Play *play) {
    return play->tile == SWITCH ? -1 : play->tile == MOVE ? play->at[1] : play->at[0];
}

/* Whether a settlement with pieces is surrounded. */
static bool captures(const Position *position, const Board *board) {
    for (int i = 0; i < board->spaces; i++)
        for (int caste = 0; caste < CASTES; caste++)
            if (position->piece[i][caste] && position->empty[i] == 0) return true;
    return false;
}

static bool is_fast(const Board *board, int tile) {
    if (board->specials) return tile == SWITCH || tile == MOVE;
    return TILE[tile].fast || (tile == MOVE && board->move_is_fast);
}

/* Whether a tile may follow another in a turn. */
static bool follows(const Board *board, int tile, int made) {
    return is_fast(board, made) || (is_fast(board, tile) && !board->specials);
}

/* Keep of a turn's plays those that are still legal after `made`; `left` counts the hand's tiles that are left. Nothing
 * can be said of the plays after one that captures pieces within the turn. */
static void keep_remaining(PlayList *plays, const Board *board, const Play *made, const int left[TILES]) {
    size_t kept = 0;
    for (size_t i = 0; i < plays->count; i++) {
        const Play *next = &plays->list[i];
        if (left[next->tile] > 0 && follows(board, next->tile, made->tile) &&
            (filled(made) < 0 || filled(next) != filled(made)))
            plays->list[kept++] = *next;
    }
    plays->count = kept;
}

/* Answering. */

/* Append to a note as `printf` does; what does not fit is left out. */
static void jot(char *note, const char *format, ...) {
    size_t used = strlen(note);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note + used, ARENA_MAX_NOTE + 1 - used, format, arguments);
    va_end(arguments);
}

static void pack_number(msgpack_packer *packer, const char *key, int number) {
    arena_pack_text(packer, key);
    msgpack_pack_int(packer, number);
}

static void pack_play(msgpack_packer *packer, const Play *play, int score, char *note) {
    const int *at = play->at;
    msgpack_pack_map(packer, play->tile == SWITCH ? 5 : play->tile == MOVE ? 3 : 2);
    arena_pack_pair(packer, "tile", TILE[play->tile].name);
    pack_number(packer, play->tile == MOVE ? "from" : "space", at[0]);
    jot(note, "%s%s %d", *note ? "; " : "", TILE[play->tile].name, at[0]);
    if (play->tile == MOVE) {
        pack_number(packer, "to", at[1]);
        jot(note, " %d", at[1]);
    } else if (play->tile == SWITCH) {
        arena_pack_pair(packer, "caste", CASTE[at[1]]);
        pack_number(packer, "with", at[2]);
        arena_pack_pair(packer, "with_caste", CASTE[at[3]]);
        jot(note, " %s %d %s", CASTE[at[1]], at[2], CASTE[at[3]]);
    }
    jot(note, " %+d", score);
}

static bool decide_hand(msgpack_packer *action, char *note) {
    arena_pack_plays(action, 1);
    msgpack_pack_map(action, 1);
    arena_pack_text(action, "hand");
    msgpack_pack_array(action, HAND);
    for (int i = 0; i < HAND; i++) arena_pack_text(action, FIRST_HAND[i]);
    jot(note, "strength for every caste");
    return true;
}

/* Put a caste near pieces of its own, so that one tile serves two; else keep the supply even. */
static bool decide_setup(Greedy *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    const msgpack_object *supply = arena_get(arena_get(request, "view"), "supply");
    const msgpack_object *products = arena_get(request, "legal");
    int best = -1, best_caste = -1, best_space = -1;
    for (uint32_t p = 0; p < arena_size(products); p++) {
        const msgpack_object *castes = arena_get(arena_at(products, p), "caste");
        const msgpack_object *spaces = arena_get(arena_at(products, p), "space");
        for (uint32_t c = 0; c < arena_size(castes); c++)
            for (uint32_t s = 0; s < arena_size(spaces); s++) {
                int caste = caste_of(arena_at(castes, c)), space = space_of(&self->board, arena_at(spaces, s));
                if (caste < 0 || space < 0) continue;
                int score = (int)arena_int(arena_get(supply, CASTE[caste]), 0);
                const NearList *around = &self->board.near[space];
                for (int i = 0; i < around->count; i++) {
                    const NearList *kin = &self->board.beside[around->at[i]];
                    for (int k = 0; k < kin->count; k++)
                        if (kin->at[k] != space && self->position.piece[kin->at[k]][caste]) score += 2;
                }
                if (score > best ||
                    (score == best && (caste < best_caste || (caste == best_caste && space < best_space)))) {
                    best = score;
                    best_caste = caste;
                    best_space = space;
                }
            }
    }
    if (best < 0) return false;
    arena_pack_plays(action, 1);
    msgpack_pack_map(action, 2);
    arena_pack_pair(action, "caste", CASTE[best_caste]);
    pack_number(action, "space", best_space);
    jot(note, "score %d", best);
    return true;
}

/* Take the play with the highest score, then others as long as they gain. */
static bool decide_turn(Greedy *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    Play made[MAX_HAND];
    int count = 0, scores[MAX_HAND], left[TILES] = {0};
    const msgpack_object *hand = arena_get(arena_get(request, "view"), "hand");
    for (uint32_t i = 0; i < arena_size(hand); i++) {
        int tile = tile_of(arena_at(hand, i));
        if (tile >= 0) left[tile]++;
    }
    if (!read_plays(&self->plays, &self->board, arena_get(request, "legal"))) return false;
    while (self->plays.count > 0 && count < MAX_HAND) {
        const Play *best = NULL;
        int best_score = 0;
        for (size_t i = 0; i < self->plays.count; i++) {
            const Play *next = &self->plays.list[i];
            int score = gain(&self->position, &self->board, next) - TILE[next->tile].cost;
            if (!best || score > best_score || (score == best_score && compare(next, best) < 0)) {
                best = next;
                best_score = score;
            }
        }
        if (count > 0 && best_score <= 0) break;
        made[count] = *best;
        scores[count] = best_score;
        left[best->tile]--;
        make(&self->position, &self->board, &made[count]);
        keep_remaining(&self->plays, &self->board, &made[count], left);
        count++;
        if (self->board.instant && captures(&self->position, &self->board)) break;
    }
    arena_pack_plays(action, (size_t)count);
    for (int i = 0; i < count; i++) pack_play(action, &made[i], scores[i], note);
    return count > 0;
}

static bool decide(void *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    Greedy *greedy = self;
    const msgpack_object *kind = arena_get(request, "kind");
    bool decided = false;
    read_view(&greedy->position, &greedy->board, arena_get(request, "view"));
    if (arena_is(kind, "hand")) decided = decide_hand(action, note);
    if (arena_is(kind, "setup")) decided = decide_setup(greedy, request, action, note);
    if (arena_is(kind, "turn")) decided = decide_turn(greedy, request, action, note);
    if (!decided) fputs("expected a request of kind hand, setup or turn with a legal play\n", stderr);
    return decided;
}

int main(void) {
    static Greedy self;
    const arena_bot bot = {
        .name = "greedy-c",
        .version = "1.0",
        .want = {"view", "legal"},
        .self = &self,
        .start = start,
        .decide = decide,
    };
    int status = arena_run(&bot);
    free(self.plays.list);
    return status;
}
