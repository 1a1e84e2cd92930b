/* The least that a referee can pay: sends recorded frames to bots over ZMTP and awaits their answers, and nothing else.

   floor SOCKET DIALOGUES SEATS    listens on a Unix socket, and plays all dialogues for each line of its input.

   A dialogue is a row of: seat, flags (1: an answer is due; 2: the next frame is sent before answers are awaited), the
   length in four bytes, the frame. Numbers are little-endian. Any fault ends it with status 1. */

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST_SEATS 5
enum { DUE = 1, TOGETHER = 2, LONG = 2, COMMAND = 4 };

static struct pollfd bots[MOST_SEATS];
static struct { uint8_t bytes[1 << 17]; size_t from, to; } in[MOST_SEATS];
static int seats;

static void need(int holds, const char *what) {
    if (!holds) {
        perror(what);
        exit(1);
    }
}

static void fill(int seat, size_t count) {
    while (in[seat].to - in[seat].from < count) {
        if (in[seat].from == in[seat].to) in[seat].from = in[seat].to = 0;
        ssize_t came = read(bots[seat].fd, in[seat].bytes + in[seat].to, sizeof in[seat].bytes - in[seat].to);
        need(came > 0, "read");
        in[seat].to += came;
    }
}

/* Takes a frame of ZMTP, and returns its flags. */
static int take(int seat) {
    fill(seat, 2);
    uint8_t *head = in[seat].bytes + in[seat].from;
    int flags = head[0];
    size_t before = flags & LONG ? 9 : 2, size = head[1];
    if (flags & LONG) {
        fill(seat, before);
        head = in[seat].bytes + in[seat].from;
        for (size = 0, before = 1; before < 9; before++) size = size << 8 | head[before];
    }
    fill(seat, before + size);
    in[seat].from += before + size;
    return flags;
}

static void message(int seat) {
    while (take(seat) & COMMAND) { }
}

static void join(int seat, int listener) {
    static const uint8_t greeting[64] = {0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 0, 'N', 'U', 'L', 'L'};
    static const char ready[] = "\x04\x1c\5READY\x0bSocket-Type\0\0\0\6ROUTER";
    bots[seat].fd = accept(listener, NULL, NULL);
    bots[seat].events = POLLIN;
    need(bots[seat].fd >= 0, "accept");
    need(write(bots[seat].fd, greeting, sizeof greeting) == sizeof greeting, "greet");
    fill(seat, 64);
    in[seat].from += 64;
    need(write(bots[seat].fd, ready, sizeof ready - 1) == sizeof ready - 1, "ready");
    message(seat); /* hello */
}

static void await(int *owed) {
    need(poll(bots, seats, 10000) > 0, "poll");
    for (int seat = 0; seat < seats; seat++) {
        if (!(bots[seat].revents & POLLIN)) continue;
        do {
            message(seat);
            --*owed;
        } while (in[seat].from < in[seat].to);
    }
}

static void play(const uint8_t *at, const uint8_t *end) {
    static uint8_t out[1 << 17];
    int owed = 0;
    while (at < end) {
        uint32_t size;
        int seat = at[0], flags = at[1];
        memcpy(&size, at + 2, 4);
        size_t before = size < 256 ? 2 : 9;
        out[0] = size < 256 ? 0 : LONG;
        if (size < 256) out[1] = size;
        else for (int i = 0; i < 8; i++) out[1 + i] = (uint64_t)size >> (56 - 8 * i);
        need(before + size <= sizeof out, "frame");
        memcpy(out + before, at + 6, size);
        need(write(bots[seat].fd, out, before + size) == (ssize_t)(before + size), "write");
        at += 6 + size;
        owed += flags & DUE;
        while (owed && !(flags & TOGETHER)) await(&owed);
    }
}

int main(int count, char **words) {
    static uint8_t dialogues[1 << 26];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    FILE *file = count == 4 ? fopen(words[2], "rb") : NULL;
    need(file != NULL, "floor SOCKET DIALOGUES SEATS");
    size_t size = fread(dialogues, 1, sizeof dialogues, file);
    strncpy(address.sun_path, words[1], sizeof address.sun_path - 1);
    seats = atoi(words[3]);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    need(!bind(listener, (struct sockaddr *)&address, sizeof address) && !listen(listener, MOST_SEATS), "listen");
    puts("listens");
    fflush(stdout);
    for (int seat = 0; seat < seats; seat++) join(seat, listener);
    while (getchar() == '\n') {
        play(dialogues, dialogues + size);
        puts("played");
        fflush(stdout);
    }
    return 0;
}
