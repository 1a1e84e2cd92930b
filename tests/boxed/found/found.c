/* Prints what a program in C finds: see tests/found.py. Called with the bot's memory in MiB. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 4096 };

typedef struct {
    int key, place;
} item;

static const char *works(int does) { return does ? "works" : "fails"; }

static int by_key(const void *one, const void *other) { return ((const item *)one)->key - ((const item *)other)->key; }

static int keeps_order(void) {
    static item items[ITEMS];
    for (int i = 0; i < ITEMS; i++) items[i] = (item){i * 7 % 5, i};
    qsort(items, ITEMS, sizeof *items, by_key);
    for (int i = 1; i < ITEMS; i++)
        if (items[i].key == items[i - 1].key && items[i].place < items[i - 1].place) return 0;
    return 1;
}

static void *nothing(void *given) { return given; }

int main(int count, char **words) {
    char host[256] = "", page[64];
    struct statvfs disk = {0};
    pthread_t thread;
    long mib = sysconf(_SC_PHYS_PAGES) / 1024 * sysconf(_SC_PAGESIZE) / 1024;
    int own = open("found.c", O_RDONLY);
    struct flock to_read = {.l_type = F_RDLCK};
    struct passwd *account = getpwuid(getuid());
    sem_t *semaphore = sem_open("/arena-found", O_CREAT, 0600, 1);

    snprintf(page, sizeof page, "%ld MiB", mib);
    printf("memory %s\n", count > 1 && mib == atol(words[1]) ? "the bot's" : page);
    statvfs("/usr", &disk);
    printf("disk %lu MiB\n", (unsigned long)(disk.f_blocks * disk.f_frsize >> 20));
    printf("user %s\n", getenv("USER") ? getenv("USER") : "none");
    printf("account %s\n", account ? account->pw_name : "fails");
    printf("home %s\n", getenv("HOME") ? getenv("HOME") : "none");
    gethostname(host, sizeof host - 1);
    printf("host %s\n", host);
    printf("sort %s\n", works(keeps_order()));
    printf("threads %s\n", works(!pthread_create(&thread, NULL, nothing, NULL) && !pthread_join(thread, NULL)));
    printf("semaphores %s\n", works(semaphore != SEM_FAILED));
    sem_unlink("/arena-found");
    printf("lock %s\n", works(own >= 0 && !fcntl(own, F_SETLK, &to_read) && !flock(own, LOCK_SH)));
    printf("network %s\n", works(socket(AF_INET, SOCK_STREAM, 0) >= 0));
    printf("memfd %s\n", works(memfd_create("found", 0) >= 0));
    printf("pidfd %s\n", works(syscall(SYS_pidfd_open, getpid(), 0) >= 0));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) _exit(0);
    printf("processes %s\n", works(child > 0 && waitpid(child, NULL, 0) == child));
    return 0;
}
