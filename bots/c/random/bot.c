/* Plays by chance, any game: one play a request, and every legal one is equally likely. */

#include "arena_bot.h"

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

/* How many of a key's values to choose, and of which. */
typedef struct {
    uint32_t choose;
    const msgpack_object *of;
} Choice;

/* Reads the values of a key: an array to choose one from, or {"choose": n, "of": [...]}. */
static Choice read_choice(const msgpack_object *values) {
    if (values->type == MSGPACK_OBJECT_ARRAY) return (Choice){1, values};
    return (Choice){(uint32_t)arena_int(arena_get(values, "choose"), UINT32_MAX), arena_get(values, "of")};
}

/* How many choices a key's values offer: 0 if there are too few of them. */
static double ways(Choice choice) {
    uint32_t size = arena_size(choice.of);
    double count = choice.choose <= size;
    for (uint32_t i = 0; i < choice.choose && i < size; i++) count = count * (size - i) / (i + 1);
    return count;
}

/* How many plays a product makes. */
static double plays(const msgpack_object *product) {
    if (product->type != MSGPACK_OBJECT_MAP) return 0;
    double count = 1;
    for (uint32_t i = 0; i < product->via.map.size; i++) {
        const msgpack_object_kv *entry = &product->via.map.ptr[i];
        count *= entry->key.type == MSGPACK_OBJECT_STR ? ways(read_choice(&entry->val)) : 0;
    }
    return count;
}

/* Picks a product, the likelier the more plays it makes. NULL if there is none. */
static const msgpack_object *pick_product(Random *random, const msgpack_object *products) {
    double total = 0;
    for (uint32_t i = 0; i < arena_size(products); i++) total += plays(arena_at(products, i));
    double left = total * ((double)below(random, 1ULL << 53) / (double)(1ULL << 53));
    const msgpack_object *picked = NULL;
    for (uint32_t i = 0; i < arena_size(products) && left >= 0; i++) {
        double count = plays(arena_at(products, i));
        if (count > 0) picked = arena_at(products, i);
        left -= count;
    }
    return picked;
}

/* Packs one of a key's values, or several; each choice is equally likely. False if out of memory. */
static bool pack_choice(Random *random, const msgpack_object *values, msgpack_packer *action) {
    if (values->type == MSGPACK_OBJECT_ARRAY) {
        msgpack_pack_object(action, *arena_at(values, (uint32_t)below(random, arena_size(values))));
        return true;
    }
    Choice choice = read_choice(values);
    uint32_t size = arena_size(choice.of);
    const msgpack_object **left = malloc((size + 1) * sizeof *left);
    if (!left) return false;
    for (uint32_t i = 0; i < size; i++) left[i] = arena_at(choice.of, i);
    msgpack_pack_array(action, choice.choose);
    for (uint32_t i = 0; i < choice.choose; i++) {
        uint64_t taken = below(random, size);
        msgpack_pack_object(action, *left[taken]);
        left[taken] = left[--size];
    }
    free(left);
    return true;
}

static int compare_keys(const void *left, const void *right) {
    const msgpack_object_str *one = &((const msgpack_object_kv *)left)->key.via.str;
    const msgpack_object_str *other = &((const msgpack_object_kv *)right)->key.via.str;
    int order = memcmp(one->ptr, other->ptr, one->size < other->size ? one->size : other->size);
    return order ? order : (one->size > other->size) - (one->size < other->size);
}

/* Packs one of the plays that can be made of some products, each as likely as any other. */
static bool decide(void *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    (void)note;
    const msgpack_object *product = pick_product(self, arena_get(request, "legal"));
    if (!product) {
        fputs("expected a request with a legal play, got: none\n", stderr);
        return false;
    }
    /* In order of name, because a map's keys have no order, and the same seed must bring the same play. */
    qsort(product->via.map.ptr, product->via.map.size, sizeof *product->via.map.ptr, compare_keys);
    arena_pack_plays(action, 1);
    msgpack_pack_map(action, product->via.map.size);
    bool packed = true;
    for (uint32_t i = 0; i < product->via.map.size; i++) {
        msgpack_pack_object(action, product->via.map.ptr[i].key);
        packed = packed && pack_choice(self, &product->via.map.ptr[i].val, action);
    }
    if (!packed) fputs("out of memory\n", stderr);
    return packed;
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
