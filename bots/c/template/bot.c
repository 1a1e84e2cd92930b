/* A bot for Samurai and Samurai Gardener: it takes the first legal play of each request. */

#include "arena_bot.h"

/* Pack the first play of some products. A product lists the values that each key of a play may have. */
static void first(const msgpack_object *products, msgpack_packer *action) {
    const msgpack_object_map product = arena_at(products, 0)->via.map;
    msgpack_pack_map(action, product.size);
    for (uint32_t i = 0; i < product.size; i++) {
        msgpack_pack_object(action, product.ptr[i].key);
        msgpack_pack_object(action, *arena_at(&product.ptr[i].val, 0));
    }
}

/* Pack a map with one key and an array of so many values, which are to follow. */
static void begin_array(const char *key, uint32_t size, msgpack_packer *action) {
    msgpack_pack_map(action, 1);
    arena_pack_text(action, key);
    msgpack_pack_array(action, size);
}

/* Pack the action. Here is the place for your own idea. */
static bool decide(void *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    (void)self; /* Whatever the bot keeps between requests: arena_bot.self points to it. */
    const msgpack_object *kind = arena_get(request, "kind"), *legal = arena_get(request, "legal");

    /* Samurai: choose a hand, put a piece on the board, play a tile or more. */
    if (arena_is(kind, "hand")) {
        uint32_t choose = (uint32_t)arena_int(arena_get(legal, "choose"), 0);
        begin_array("hand", choose, action);
        for (uint32_t i = 0; i < choose; i++) msgpack_pack_object(action, *arena_at(arena_get(legal, "hand"), i));
    }
    if (arena_is(kind, "setup")) first(arena_get(legal, "setup"), action);
    if (arena_is(kind, "turn")) {
        begin_array("plays", 1, action);
        first(arena_get(legal, "plays"), action);
        snprintf(note, ARENA_MAX_NOTE, "the first will do"); /* A note is kept in the log; no opponent sees it. */
    }

    /* Gardener: take a card, plant it, score rows. */
    if (arena_is(kind, "seize")) first(arena_get(legal, "seize"), action);
    if (arena_is(kind, "plant")) first(arena_get(legal, "plant"), action);
    if (arena_is(kind, "score")) {
        begin_array("rows", 1, action);
        first(arena_get(legal, "score"), action);
    }
    return true;
}

int main(void) {
    /* "legal" lists the legal plays, "view" shows all that the seat may know, "events" what has happened. */
    const arena_bot bot = {.want = {"legal"}, .decide = decide};
    return arena_run(&bot);
}
