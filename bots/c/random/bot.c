/* Plays Samurai by chance: one play a request, and every legal one is equally likely. */

#include "arena_bot.h"

enum { MAX_HAND = 32 };

/* The keys that a play may have, in the order in which they are counted through: a map's own keys have no order. */
static const char *const KEYS[] = {"tile", "space", "caste", "with", "with_caste", "from", "to"};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

/* Numbers by chance that a seed determines: the generator splitmix64. */
typedef struct {
    uint64_t state;
} Random;

/* One of 0 to n - 1, for n above 0. That n may not divide 2^64 makes some likelier, by less than n in 2^64. */
static uint64_t below(Random *random, uint64_t n) {
    uint64_t mixed = random->state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return (mixed ^ (mixed >> 31)) % n;
}

static bool start(void *self, const msgpack_object *game) {
    ((Random *)self)->state = (uint64_t)arena_int(arena_get(game, "bot_seed"), 0);
    return true;
}

/* How many plays a product stands for: the combinations of one value for each of its keys. */
static uint64_t combinations(const msgpack_object *product) {
    uint64_t count = 1;
    for (int i = 0; i < KEY_COUNT; i++) {
        const msgpack_object *values = arena_get(product, KEYS[i]);
        if (values->type == MSGPACK_OBJECT_ARRAY) count *= arena_size(values);
    }
    return count;
}

/* Pack one of the plays that some products stand for, each as likely as any other. False if there is none. */
static bool pick(Random *random, const msgpack_object *products, msgpack_packer *action) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < arena_size(products); i++) total += combinations(arena_at(products, i));
    if (total == 0) return false;
    uint64_t index = below(random, total);
    uint32_t at = 0;
    while (index >= combinations(arena_at(products, at))) index -= combinations(arena_at(products, at++));

    const char *keys[KEY_COUNT];
    const msgpack_object *values[KEY_COUNT];
    size_t count = 0;
    for (int i = 0; i < KEY_COUNT; i++) {
        keys[count] = KEYS[i];
        values[count] = arena_get(arena_at(products, at), KEYS[i]);
        count += arena_size(values[count]) > 0;
    }
    msgpack_pack_map(action, count);
    for (size_t i = 0; i < count; i++) {
        arena_pack_text(action, keys[i]);
        msgpack_pack_object(action, *arena_at(values[i], (uint32_t)(index % arena_size(values[i]))));
        index /= arena_size(values[i]);
    }
    return true;
}

/* Some of the tiles that there are, each as likely as any other. */
static bool pick_hand(Random *random, const msgpack_object *legal, msgpack_packer *action) {
    const msgpack_object *tiles = arena_get(legal, "hand"), *left[MAX_HAND];
    uint32_t size = arena_size(tiles);
    int64_t choose = arena_int(arena_get(legal, "choose"), -1);
    if (size > MAX_HAND || choose < 0 || choose > size) return false;
    for (uint32_t i = 0; i < size; i++) left[i] = arena_at(tiles, i);
    msgpack_pack_array(action, (size_t)choose);
    for (; choose > 0; choose--) {
        uint64_t taken = below(random, size);
        msgpack_pack_object(action, *left[taken]);
        left[taken] = left[--size];
    }
    return true;
}

static bool decide(void *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    (void)note;
    const msgpack_object *kind = arena_get(request, "kind"), *legal = arena_get(request, "legal");
    bool decided = false;
    if (arena_is(kind, "setup")) {
        decided = pick(self, arena_get(legal, "setup"), action);
    } else if (arena_is(kind, "hand")) {
        msgpack_pack_map(action, 1);
        arena_pack_text(action, "hand");
        decided = pick_hand(self, legal, action);
    } else if (arena_is(kind, "turn")) {
        msgpack_pack_map(action, 1);
        arena_pack_text(action, "plays");
        msgpack_pack_array(action, 1);
        decided = pick(self, arena_get(legal, "plays"), action);
    }
    if (!decided) fputs("expected a request of kind hand, setup or turn with a legal play\n", stderr);
    return decided;
}

int main(void) {
    Random random = {0};
    const arena_bot bot = {
        .name = "random-c",
        .version = "1.0",
        .want = {"legal"},
        .self = &random,
        .start = start,
        .decide = decide,
    };
    return arena_run(&bot);
}
