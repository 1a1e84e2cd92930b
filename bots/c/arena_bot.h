/* The client of an arena bot, in one header. It needs libzmq and msgpack-c, and nothing else.
 *
 * Copy it beside your bot, fill in an `arena_bot`, and call `arena_run`:
 *
 *     #include "arena_bot.h"
 *
 *     // Packs the first of a key's values; or several, where the product says {"choose": n, "of": [...]}.
 *     static void pack_first(msgpack_packer *action, const msgpack_object *values) {
 *         if (values->type == MSGPACK_OBJECT_ARRAY) {
 *             msgpack_pack_object(action, *arena_at(values, 0));
 *             return;
 *         }
 *         uint32_t choose = (uint32_t)arena_int(arena_get(values, "choose"), 0);
 *         msgpack_pack_array(action, choose);
 *         for (uint32_t i = 0; i < choose; i++) msgpack_pack_object(action, *arena_at(arena_get(values, "of"), i));
 *     }
 *
 *     // Takes the first legal play of every request, in any game.
 *     static bool decide(void *self, const msgpack_object *request, msgpack_packer *action, char *note) {
 *         (void)self, (void)note;
 *         const msgpack_object_map product = arena_at(arena_get(request, "legal"), 0)->via.map;
 *         arena_pack_plays(action, 1);
 *         msgpack_pack_map(action, product.size);
 *         for (uint32_t i = 0; i < product.size; i++) {
 *             msgpack_pack_object(action, product.ptr[i].key);
 *             pack_first(action, &product.ptr[i].val);
 *         }
 *         return true;
 *     }
 *
 *     int main(void) {
 *         arena_bot bot = {.name = "first", .version = "1.0", .want = {"legal"}, .decide = decide};
 *         return arena_run(&bot);
 *     }
 *
 * The referee starts the bot as a process with two environment variables, ARENA_ENDPOINT and ARENA_TOKEN. Then:
 *
 *     bot       hello                                       action    ready   (one answer to each)
 *     referee          welcome   game_start   request ...          ...       game_over   ...   goodbye
 *
 * Each message is one msgpack map in one ZeroMQ frame, with the key "type". One session serves many games.
 *
 * In every game `legal` is an array of products: maps that give, for each key of a play, the values it may have. They
 * are an array to choose one from, or a map {"choose": n, "of": [...]} to choose n from. The action is always a map
 * {"plays": [...]}; each play has a chosen value for each key of one product. One play is always enough.
 */
#ifndef ARENA_BOT_H
#define ARENA_BOT_H

#include <errno.h>
#include <msgpack.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define ARENA_PROTOCOL "1.0"
#define ARENA_MAX_NOTE 1024

/* What a bot does. Each function is given `self`. The messages live only until it returns. */
typedef struct {
    const char *name;
    const char *version;
    /* What each request shall carry: any of "view", "events", "legal"; unused entries are NULL. The less, the faster.
     */
    const char *want[3];
    void *self;
    /* Begins a game; `game` is the message `game_start`. Returns false, after a word on stderr, if the bot cannot play
     * it. */
    bool (*start)(void *self, const msgpack_object *game);
    /* Answers a request: packs the action, one map, and writes a note, if any, into `note` (ARENA_MAX_NOTE bytes and a
     * zero; empty before the call). Returns false, after a word on stderr, if there is no answer: the process then
     * ends. If it returns true and has packed nothing, or anything but one whole map, the client says so on stderr, and
     * the process ends with status 1. */
    bool (*decide)(void *self, const msgpack_object *request, msgpack_packer *action, char *note);
    /* Ends a game; `result` is the message `game_over`. */
    void (*over)(void *self, const msgpack_object *result);
} arena_bot;

/* Reading messages. What is missing or of another type reads as nil, nothing, or the fallback: no call fails. */

static const msgpack_object arena_nil = {.type = MSGPACK_OBJECT_NIL};

static inline bool arena_is(const msgpack_object *object, const char *text) {
    return object->type == MSGPACK_OBJECT_STR && object->via.str.size == strlen(text) &&
           memcmp(object->via.str.ptr, text, object->via.str.size) == 0;
}

/* The value of a map's key. */
static inline const msgpack_object *arena_get(const msgpack_object *map, const char *key) {
    if (map->type == MSGPACK_OBJECT_MAP)
        for (uint32_t i = 0; i < map->via.map.size; i++)
            if (arena_is(&map->via.map.ptr[i].key, key)) return &map->via.map.ptr[i].val;
    return &arena_nil;
}

static inline uint32_t arena_size(const msgpack_object *array) {
    return array->type == MSGPACK_OBJECT_ARRAY ? array->via.array.size : 0;
}

static inline const msgpack_object *arena_at(const msgpack_object *array, uint32_t index) {
    return index < arena_size(array) ? &array->via.array.ptr[index] : &arena_nil;
}

static inline int64_t arena_int(const msgpack_object *object, int64_t fallback) {
    if (object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER) return object->via.i64;
    if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 <= INT64_MAX)
        return (int64_t)object->via.u64;
    return fallback;
}

/* Writing values. */

static inline void arena_pack_text(msgpack_packer *packer, const char *text) {
    size_t size = strlen(text);
    msgpack_pack_str(packer, size);
    msgpack_pack_str_body(packer, text, size);
}

static inline void arena_pack_pair(msgpack_packer *packer, const char *key, const char *text) {
    arena_pack_text(packer, key);
    arena_pack_text(packer, text ? text : "");
}

/* Begins an action of so many plays: each is to be packed after it, as a map. */
static inline void arena_pack_plays(msgpack_packer *packer, size_t count) {
    msgpack_pack_map(packer, 1);
    arena_pack_text(packer, "plays");
    msgpack_pack_array(packer, count);
}

/* Writing messages: each appends one to `frame`. */

static inline void arena_write_hello(msgpack_sbuffer *frame, const arena_bot *bot, const char *token) {
    uint32_t wants = 0;
    while (wants < 3 && bot->want[wants]) wants++;
    msgpack_packer packer;
    msgpack_packer_init(&packer, frame, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, 6);
    arena_pack_pair(&packer, "type", "hello");
    arena_pack_pair(&packer, "token", token);
    arena_pack_pair(&packer, "protocol", ARENA_PROTOCOL);
    arena_pack_pair(&packer, "name", bot->name);
    arena_pack_pair(&packer, "version", bot->version);
    arena_pack_text(&packer, "want");
    msgpack_pack_array(&packer, wants);
    for (uint32_t i = 0; i < wants; i++) arena_pack_text(&packer, bot->want[i]);
}

static inline void arena_write_ready(msgpack_sbuffer *frame, const msgpack_object *game) {
    msgpack_packer packer;
    msgpack_packer_init(&packer, frame, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, 2);
    arena_pack_pair(&packer, "type", "ready");
    arena_pack_text(&packer, "game");
    msgpack_pack_object(&packer, *arena_get(game, "game"));
}

/* How many bytes of a text belong to whole characters: less than all, if its last one was cut in the middle. */
static inline size_t arena_whole(const char *text) {
    size_t size = strlen(text), last = size;
    while (last > 0 && ((unsigned char)text[last - 1] & 0xC0) == 0x80) last--; /* Bytes that continue a character. */
    if (last == 0) return 0;
    unsigned char first = (unsigned char)text[--last];
    size_t needed = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return size - last < needed ? last : size;
}

/* `action` holds what `decide` has packed. */
static inline void arena_write_action(msgpack_sbuffer *frame, const msgpack_object *request,
                                      const msgpack_sbuffer *action, const char *note) {
    msgpack_packer packer;
    msgpack_packer_init(&packer, frame, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, *note ? 4 : 3);
    arena_pack_pair(&packer, "type", "action");
    arena_pack_text(&packer, "id");
    msgpack_pack_object(&packer, *arena_get(request, "id"));
    if (*note) {
        size_t size = arena_whole(note);
        arena_pack_text(&packer, "note");
        msgpack_pack_str(&packer, size);
        msgpack_pack_str_body(&packer, note, size);
    }
    arena_pack_text(&packer, "action");
    msgpack_sbuffer_write(frame, action->data, action->size);
}

/* Reading a frame: one map with a type and nothing after it; all else is refused. `message` is to be destroyed in any
 * case, and lives no longer than the frame. */
static inline bool arena_read(msgpack_unpacked *message, const void *frame, size_t size) {
    size_t end = 0;
    msgpack_unpacked_init(message);
    return msgpack_unpack_next(message, frame, size, &end) == MSGPACK_UNPACK_SUCCESS && end == size &&
           arena_get(&message->data, "type")->type == MSGPACK_OBJECT_STR;
}

/* The session. Each of these says on stderr what went wrong. */

/* Sends a message, and frees it. */
static inline bool arena_send(void *socket, msgpack_sbuffer *frame) {
    int sent;
    do sent = zmq_send(socket, frame->data, frame->size, 0);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) fprintf(stderr, "cannot send to the referee: %s\n", zmq_strerror(errno));
    msgpack_sbuffer_destroy(frame);
    return sent >= 0;
}

static inline bool arena_hello(const arena_bot *bot, void *socket, const char *token) {
    msgpack_sbuffer frame;
    msgpack_sbuffer_init(&frame);
    arena_write_hello(&frame, bot, token);
    return arena_send(socket, &frame);
}

static inline bool arena_start(const arena_bot *bot, void *socket, const msgpack_object *game) {
    if (bot->start && !bot->start(bot->self, game)) return false;
    msgpack_sbuffer frame;
    msgpack_sbuffer_init(&frame);
    arena_write_ready(&frame, game);
    return arena_send(socket, &frame);
}

/* Whether a buffer holds one whole map and nothing else. If not, says on stderr what it expected. */
static inline bool arena_check_action(const msgpack_sbuffer *action, const msgpack_object *request) {
    size_t end = 0;
    msgpack_unpacked packed;
    msgpack_unpacked_init(&packed);
    bool is_map = msgpack_unpack_next(&packed, action->data, action->size, &end) == MSGPACK_UNPACK_SUCCESS &&
                  end == action->size && packed.data.type == MSGPACK_OBJECT_MAP;
    msgpack_unpacked_destroy(&packed);
    if (!is_map) {
        const msgpack_object *kind = arena_get(request, "kind");
        bool has_kind = kind->type == MSGPACK_OBJECT_STR;
        fputs("expected `decide` to pack one map as the action, got: ", stderr);
        if (action->size == 0)
            fputs("nothing", stderr);
        else
            fprintf(stderr, "%zu bytes that are not one map", action->size);
        fprintf(stderr, " - at a request of kind %.*s; pack it with arena_pack_plays, or return false\n",
                has_kind ? (int)kind->via.str.size : 1, has_kind ? kind->via.str.ptr : "?");
    }
    return is_map;
}

static inline bool arena_answer(const arena_bot *bot, void *socket, const msgpack_object *request) {
    char note[ARENA_MAX_NOTE + 1] = "";
    msgpack_sbuffer action, frame;
    msgpack_packer packer;
    msgpack_sbuffer_init(&action);
    msgpack_sbuffer_init(&frame);
    msgpack_packer_init(&packer, &action, msgpack_sbuffer_write);
    bool decided = bot->decide(bot->self, request, &packer, note) && arena_check_action(&action, request);
    if (decided) arena_write_action(&frame, request, &action, note);
    msgpack_sbuffer_destroy(&action);
    return decided && arena_send(socket, &frame);
}

static inline int arena_complaint(const msgpack_object *error) {
    const msgpack_object *parts[] = {arena_get(error, "code"), arena_get(error, "message")};
    fputs("referee", stderr);
    for (int i = 0; i < 2; i++)
        if (parts[i]->type == MSGPACK_OBJECT_STR)
            fprintf(stderr, ": %.*s", (int)parts[i]->via.str.size, parts[i]->via.str.ptr);
    fputc('\n', stderr);
    return 1;
}

/* Handles one message. Returns -1 to go on, else the status to exit with. */
static inline int arena_handle(const arena_bot *bot, void *socket, const msgpack_object *message) {
    const msgpack_object *type = arena_get(message, "type");
    if (arena_is(type, "request")) return arena_answer(bot, socket, message) ? -1 : 1;
    if (arena_is(type, "game_start")) return arena_start(bot, socket, message) ? -1 : 1;
    if (arena_is(type, "goodbye")) return 0;
    if (arena_is(type, "game_over") && bot->over) bot->over(bot->self, message);
    if (arena_is(type, "error")) return arena_complaint(message);
    return -1; /* Any other type belongs to a later version of the protocol, and is ignored. */
}

static inline int arena_serve(const arena_bot *bot, void *socket) {
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    int status = -1;
    while (status < 0) {
        if (zmq_msg_recv(&frame, socket, 0) < 0) {
            if (errno == EINTR) continue;
            fprintf(stderr, "cannot receive from the referee: %s\n", zmq_strerror(errno));
            status = 1;
            break;
        }
        msgpack_unpacked message;
        if (arena_read(&message, zmq_msg_data(&frame), zmq_msg_size(&frame))) {
            status = arena_handle(bot, socket, &message.data);
        } else {
            fprintf(stderr, "expected one msgpack map with a type in each frame, got: %zu bytes that are none\n",
                    zmq_msg_size(&frame));
            status = 1;
        }
        msgpack_unpacked_destroy(&message);
    }
    zmq_msg_close(&frame);
    return status;
}

/* Plays games until the referee says goodbye. Returns the status to exit with. After a failure the connection stays
 * open until the process ends: so the referee finds that the bot has ended, and not that it lost the connection. */
static inline int arena_run(const arena_bot *bot) {
    const char *endpoint = getenv("ARENA_ENDPOINT"), *token = getenv("ARENA_TOKEN");
    if (!endpoint || !token) {
        fputs("expected ARENA_ENDPOINT and ARENA_TOKEN in the environment: arena's referee starts this program\n",
              stderr);
        return 1;
    }
    void *context = zmq_ctx_new(), *socket = context ? zmq_socket(context, ZMQ_DEALER) : NULL;
    int status = 1, no_wait = 0;
    if (socket && zmq_setsockopt(socket, ZMQ_LINGER, &no_wait, sizeof no_wait) == 0 &&
        zmq_connect(socket, endpoint) == 0)
        status = arena_hello(bot, socket, token) ? arena_serve(bot, socket) : 1;
    else
        fprintf(stderr, "cannot connect to %s: %s\n", endpoint, zmq_strerror(errno));
    if (status == 0) {
        zmq_close(socket);
        zmq_ctx_term(context);
    }
    return status;
}

#endif
