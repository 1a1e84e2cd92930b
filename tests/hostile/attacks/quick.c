/* Attacks that are quicker than Python: `quick memory` takes memory, `quick fork` starts processes that start others.
 * Prints what it got, and ends with status 0 only if nothing stopped it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int memory(void)
{
    size_t size = (size_t)4 << 30;
    char *space = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) {
        printf("%s\n", strerror(errno));
        return 1;
    }
    for (size_t at = 0; at < size; at += 4096)
        space[at] = 1;
    sleep(2);
    printf("4 GiB\n");
    return 0;
}

/* At most so many in all, counted in memory that all of them share: it is a test, and the machine has other work. */
enum { MOST = 500 };

static int bomb(void)
{
    int *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t first = getpid();
    time_t until = time(NULL) + 2;
    if (count == MAP_FAILED)
        return 1;
    while (time(NULL) < until && __sync_add_and_fetch(count, 1) <= MOST)
        if (fork() < 0)
            __sync_sub_and_fetch(count, 1);
    if (getpid() != first) {
        sleep(30);
        _exit(0);
    }
    printf("%d processes\n", *count);
    return *count < MOST;
}

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "memory") == 0 ? memory() : bomb();
}
