/* Tests of the client: it reads and writes what the protocol's vectors say, and does what else a client must. */

#define _POSIX_C_SOURCE 200809L

#include "../arena_bot.h"

#include <unistd.h>

static int failures;
static const char *current = ""; /* The test or vector at work. */

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s: line %d: expected %s\n", current, __LINE__, #condition);                              \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

typedef struct {
    const char *id;
    const char *hex;                              /* Bytes in parts; a part may be hex*count. */
    bool valid;                                   /* It keeps the protocol. */
    bool ignored;                                 /* Its type belongs to another version. */
    bool refused;                                 /* It is no map with a type: no client may take it for a message. */
    void (*check)(const msgpack_object *message); /* Checks that a message says the same, if it says anything. */
    void (*write)(msgpack_packer *packer);        /* Writes the same, if bots send it. */
} Vector;

#include "vectors.h"

/* The bytes of a vector, appended to a buffer. */
static void write_bytes(msgpack_sbuffer *frame, const char *hex) {
    while (*hex) {
        size_t digits = strspn(hex, "0123456789abcdef"), skipped = 0;
        int count = 1;
        sscanf(hex + digits, "*%d%zn", &count, &skipped);
        for (; count > 0; count--)
            for (size_t i = 0; i < digits; i += 2) {
                unsigned byte = 0;
                sscanf(hex + i, "%2x", &byte);
                char written = (char)byte;
                msgpack_sbuffer_write(frame, &written, 1);
            }
        hex += digits + skipped;
        hex += strspn(hex, " ");
    }
}

/* A bot to hand messages to: none of them is one that it answers, so it needs no socket. */
static const arena_bot BOT = {.name = "test", .version = "1.0", .want = {"view", "legal"}};

static void test_reading(const Vector *vector) {
    current = vector->id;
    msgpack_sbuffer frame;
    msgpack_unpacked message;
    msgpack_sbuffer_init(&frame);
    write_bytes(&frame, vector->hex);
    bool read = arena_read(&message, frame.data, frame.size);
    CHECK(read || !vector->valid);
    CHECK(!read || !vector->refused);
    if (read && vector->check) vector->check(&message.data);
    if (read && vector->ignored) CHECK(arena_handle(&BOT, NULL, &message.data) == -1);
    msgpack_unpacked_destroy(&message);
    msgpack_sbuffer_destroy(&frame);
}

static void test_writing(const Vector *vector) {
    current = vector->id;
    msgpack_sbuffer frame;
    msgpack_packer packer;
    msgpack_unpacked message;
    msgpack_sbuffer_init(&frame);
    msgpack_packer_init(&packer, &frame, msgpack_sbuffer_write);
    vector->write(&packer);
    CHECK(arena_read(&message, frame.data, frame.size));
    vector->check(&message.data);
    msgpack_unpacked_destroy(&message);
    msgpack_sbuffer_destroy(&frame);
}

static void test_hello(void) {
    current = "hello";
    msgpack_sbuffer frame;
    msgpack_unpacked hello;
    msgpack_sbuffer_init(&frame);
    arena_write_hello(&frame, &BOT, "3c0ffee");
    CHECK(arena_read(&hello, frame.data, frame.size));
    CHECK(arena_is(arena_get(&hello.data, "type"), "hello"));
    CHECK(arena_is(arena_get(&hello.data, "token"), "3c0ffee"));
    CHECK(arena_is(arena_get(&hello.data, "protocol"), "1.0"));
    CHECK(arena_is(arena_get(&hello.data, "name"), "test"));
    CHECK(arena_is(arena_get(&hello.data, "version"), "1.0"));
    const msgpack_object *want = arena_get(&hello.data, "want");
    CHECK(arena_size(want) == 2);
    CHECK(arena_is(arena_at(want, 0), "view"));
    CHECK(arena_is(arena_at(want, 1), "legal"));
    msgpack_unpacked_destroy(&hello);
    msgpack_sbuffer_destroy(&frame);
}

/* The answer to a message from the referee, which has no more than `key` and a number. */
static void test_answer(const char *key, const char *type, const char *note, const char *sent_note) {
    current = type;
    msgpack_object_kv number = {
        .key = {.type = MSGPACK_OBJECT_STR, .via.str = {.ptr = key, .size = (uint32_t)strlen(key)}},
        .val = {.type = MSGPACK_OBJECT_POSITIVE_INTEGER, .via.u64 = (1ULL << 53) - 1},
    };
    const msgpack_object asked = {.type = MSGPACK_OBJECT_MAP, .via.map = {.size = 1, .ptr = &number}};
    msgpack_sbuffer action, frame;
    msgpack_unpacked answer;
    msgpack_sbuffer_init(&action);
    msgpack_sbuffer_init(&frame);
    write_bytes(&action, "81a4 72696365 07"); /* {"rice": 7} */
    if (note)
        arena_write_action(&frame, &asked, &action, note);
    else
        arena_write_ready(&frame, &asked);
    CHECK(arena_read(&answer, frame.data, frame.size));
    CHECK(arena_is(arena_get(&answer.data, "type"), type));
    CHECK(arena_int(arena_get(&answer.data, key), 0) == (1LL << 53) - 1);
    if (note) CHECK(arena_int(arena_get(arena_get(&answer.data, "action"), "rice"), 0) == 7);
    CHECK(sent_note ? arena_is(arena_get(&answer.data, "note"), sent_note)
                    : arena_get(&answer.data, "note")->type == MSGPACK_OBJECT_NIL);
    msgpack_unpacked_destroy(&answer);
    msgpack_sbuffer_destroy(&frame);
    msgpack_sbuffer_destroy(&action);
}

/* Bots that say they have decided, and have packed something other than one map. */

static bool pack_nothing(void *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    (void)self, (void)request, (void)action, (void)note;
    return true;
}

static bool pack_half(void *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    (void)self, (void)request, (void)note;
    arena_pack_plays(action, 1); /* The play is missing. */
    return true;
}

static bool pack_twice(void *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    (void)self, (void)request, (void)note;
    arena_pack_plays(action, 0);
    arena_pack_plays(action, 0);
    return true;
}

static bool pack_array(void *self, const msgpack_object *request, msgpack_packer *action, char *note) {
    (void)self, (void)request, (void)note;
    msgpack_pack_array(action, 0);
    return true;
}

/* Hands the bot a request of kind turn: it must end with status 1, before it sends anything, and say why. */
static void test_no_action(const char *name, const char *got,
                           bool (*decide)(void *, const msgpack_object *, msgpack_packer *, char *)) {
    current = name;
    const arena_bot bot = {.decide = decide};
    msgpack_sbuffer frame;
    msgpack_unpacked request;
    msgpack_sbuffer_init(&frame);
    write_bytes(&frame, "82 a4 74797065 a7 72657175657374 a4 6b696e64 a4 7475726e");
    CHECK(arena_read(&request, frame.data, frame.size));
    fflush(stderr);
    FILE *file = tmpfile();
    int terminal = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    int status = arena_handle(&bot, NULL, &request.data);
    fflush(stderr);
    dup2(terminal, STDERR_FILENO);
    close(terminal);
    char said[256] = "", expected[256];
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fclose(file);
    snprintf(expected, sizeof expected,
             "expected `decide` to pack one map as the action, got: %s - at a request of kind turn; "
             "pack it with arena_pack_plays, or return false\n",
             got);
    CHECK(status == 1);
    CHECK(strcmp(said, expected) == 0);
    msgpack_unpacked_destroy(&request);
    msgpack_sbuffer_destroy(&frame);
}

int main(void) {
    const size_t count = sizeof VECTORS / sizeof *VECTORS;
    for (size_t i = 0; i < count; i++) {
        test_reading(&VECTORS[i]);
        if (VECTORS[i].write) test_writing(&VECTORS[i]);
    }
    test_hello();
    test_answer("game", "ready", NULL, NULL);
    test_answer("id", "action", "", NULL);
    test_answer("id", "action", "plain", "plain");
    test_answer("id", "action", "whole \u20ac", "whole \u20ac");
    test_answer("id", "action", "cut \xe2\x82", "cut "); /* Characters of two, three, four bytes without their last. */
    test_answer("id", "action", "cut \xe2", "cut ");
    test_answer("id", "action", "cut \xc3", "cut ");
    test_answer("id", "action", "cut \xf0\x9f\x8f", "cut ");
    test_no_action("nothing", "nothing", pack_nothing);
    test_no_action("half an action", "8 bytes that are not one map", pack_half);
    test_no_action("two actions", "16 bytes that are not one map", pack_twice);
    test_no_action("an array", "1 bytes that are not one map", pack_array);
    printf("%zu vectors and what else a client must do: %d failed checks\n", count, failures);
    return failures > 0;
}
