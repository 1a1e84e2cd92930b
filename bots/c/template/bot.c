/* A bot for any game: it takes the first legal play of each request. */

#include "arena_bot.h"

/* Packs the first of some values; several where the product says {"choose": n, "of": [...]}. */
static void pack_first(msgpack_packer *action, const msgpack_object *values) {
    if (values->type == MSGPACK_OBJECT_ARRAY) {
        msgpack_pack_object(action, *arena_at(values, 0));
        return;
    }
    uint32_t choose = (uint32_t)arena_int(arena_get(values, "choose"), 0);
    msgpack_pack_array(action, choose);
    for (uint32_t i = 0; i < choose; i++) msgpack_pack_object(action, *arena_at(arena_get(values, "of"), i));
}

/* Packs the first legal play. `legal` is an array of products: a product has, for each key of a play, the values to
 * choose from. */
static void pack_first_play(msgpack_packer *action, const msgpack_object *legal) {
    const msgpack_object_map product = arena_at(legal, 0)->via.map;
    msgpack_pack_map(action, product.size);
    for (uint32_t i = 0; i < product.size; i++) {
        msgpack_pack_object(action, product.ptr[i].key);
        pack_first(action, &product.ptr[i].val);
    }
}

/* Packs the action. Here is the place for your own idea. */
static bool decide(void *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    (void)self; /* Whatever the bot keeps between requests: arena_bot.self points to it. */
    arena_pack_plays(action, 1);
    pack_first_play(action, arena_get(request, "legal"));
    snprintf(note, ARENA_MAX_NOTE, "the first will do"); /* A note is kept in the log; no opponent sees it. */
    return true;
}

int main(void) {
    /* "legal" lists the legal plays, "view" shows all that the seat may know, "events" what has happened. */
    const arena_bot bot = {.want = {"legal"}, .decide = decide};
    return arena_run(&bot);
}
