/* Makes writes, syncs, truncations and unlinks of the files in one folder fail, or the process die at one of them.
 *
 * It is loaded before the C library (LD_PRELOAD) and does nothing until `inject_arm` is called. Calls that concern
 * other files are not counted. No call is really synced while it is armed: nothing here cuts the power.
 *
 *     cc -shared -fPIC -O2 -o inject.so inject.c -ldl
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, TRUNCATE = 4, UNLINK = 8 };
enum { COUNT, KILL, TEAR, FAIL, FAIL_FROM };

static int armed, kinds, fault, error_number;
static long at, seen;
static char folder[PATH_MAX];
static long clock_step;
static int clock_calls;

/* Counts the calls of some kinds on the files in a folder; at call `number` (from 1) something happens:
 * COUNT nothing, KILL the process dies before it, TEAR it dies when half of the write is done, FAIL the call fails with
 * `number_of_error`, FAIL_FROM so do all after it. */
void inject_arm(const char *of, int of_kinds, long number, int what, int number_of_error)
{
    snprintf(folder, sizeof folder, "%s", of);
    kinds = of_kinds;
    at = number;
    fault = what;
    error_number = number_of_error;
    seen = 0;
    armed = 1;
}

void inject_disarm(void) { armed = 0; }

long inject_seen(void) { return seen; }

/* From now on the wall clock jumps: each look at it is `seconds` later, or as much earlier, than the truth. */
void inject_clock(long seconds) { clock_step = seconds; }

static int concerns(const char *path) { return strncmp(path, folder, strlen(folder)) == 0; }

static int concerns_file(int descriptor)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return concerns(path);
}

/* What is to happen to a call that is counted: COUNT means nothing. */
static int due(int kind, int concerned)
{
    if (!armed || !(kinds & kind) || !concerned)
        return COUNT;
    seen++;
    if (fault == FAIL_FROM)
        return seen >= at ? FAIL : COUNT;
    if (seen != at)
        return COUNT;
    if (fault == KILL || (fault == TEAR && kind != WRITE))
        kill(getpid(), SIGKILL);
    return fault;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define WRITING(name, half, ...)                                                                                       \
    {                                                                                                                  \
        int saved = errno, what = armed ? due(WRITE, concerns_file(file)) : COUNT;                                     \
        errno = saved;                                                                                                 \
        if (what == FAIL) {                                                                                            \
            errno = error_number;                                                                                      \
            return -1;                                                                                                 \
        }                                                                                                              \
        if (what == TEAR) {                                                                                            \
            half;                                                                                                      \
            kill(getpid(), SIGKILL);                                                                                   \
        }                                                                                                              \
        return REAL(name)(__VA_ARGS__);                                                                                \
    }

ssize_t write(int file, const void *data, size_t size)
WRITING(write, REAL(write)(file, data, size / 2), file, data, size)

ssize_t pwrite(int file, const void *data, size_t size, off_t offset)
WRITING(pwrite, REAL(pwrite)(file, data, size / 2, offset), file, data, size, offset)

ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset)
WRITING(pwrite64, REAL(pwrite64)(file, data, size / 2, offset), file, data, size, offset)

ssize_t writev(int file, const struct iovec *parts, int count)
WRITING(writev, REAL(writev)(file, parts, count / 2), file, parts, count)

#define OTHER(kind, concerned, call)                                                                                   \
    {                                                                                                                  \
        int saved = errno, what = armed ? due(kind, concerned) : COUNT;                                                \
        errno = saved;                                                                                                 \
        if (what == FAIL) {                                                                                            \
            errno = error_number;                                                                                      \
            return -1;                                                                                                 \
        }                                                                                                              \
        return call;                                                                                                   \
    }

int fsync(int file) OTHER(SYNC, concerns_file(file), armed ? 0 : REAL(fsync)(file))
int fdatasync(int file) OTHER(SYNC, concerns_file(file), armed ? 0 : REAL(fdatasync)(file))
int ftruncate(int file, off_t size) OTHER(TRUNCATE, concerns_file(file), REAL(ftruncate)(file, size))
int ftruncate64(int file, off64_t size) OTHER(TRUNCATE, concerns_file(file), REAL(ftruncate64)(file, size))
int unlink(const char *path) OTHER(UNLINK, concerns(path), REAL(unlink)(path))
int unlinkat(int at_folder, const char *path, int flags)
OTHER(UNLINK, concerns(path), REAL(unlinkat)(at_folder, path, flags))

static long jump(void) { return clock_step ? (clock_calls++ % 2 ? clock_step : -clock_step) : 0; }

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static __typeof__(&clock_gettime) real;
    if (!real)
        real = REAL(clock_gettime);
    int done = real(clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += jump();
    return done;
}

int gettimeofday(struct timeval *now, void *zone)
{
    int done = REAL(gettimeofday)(now, zone);
    now->tv_sec += jump();
    return done;
}
