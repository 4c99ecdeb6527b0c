#define _GNU_SOURCE /* O_PATH, flock */
#include "signer/datadir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_TRIES = 8, PID_TEXT_BYTES = 16 };

/* Every message ends in the path: it may be long, and a fault is cut at its end. */
static enum err failed(enum err e, const char *what, const char *path, struct fault *fault)
{
    return fault_set(fault, e, "%s (%s): %s", what, strerror(errno), path);
}

/* The name of a new directory is in its parent, which is what has to be synced. */
static enum err sync_directory(int at, const char *path, struct fault *fault)
{
    int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return failed(ERR_IO, "cannot open the directory that holds a new one", path, fault);
    enum err e = fsync(fd) == 0 ? ERR_OK : failed(ERR_SYNC, "the disk did not confirm a new directory", path, fault);
    close(fd);
    return e;
}

/* Why the last component could not be opened as a directory. */
static enum err refused(int at, const char *name, const char *path, struct fault *fault)
{
    int saved = errno;
    struct stat st;
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
        return fault_set(fault, ERR_PATH, "a symbolic link is not accepted, name the directory it leads to: %s", path);
    errno = saved;
    return failed(errno == ENOTDIR ? ERR_PATH : ERR_IO, "cannot open the directory", path, fault);
}

/* Replaces *at by the directory `name` inside it, made when it is missing. */
static enum err enter(int *at, const char *name, bool last, const char *path, struct fault *fault)
{
    int flags = O_DIRECTORY | O_CLOEXEC | (last ? O_RDONLY | O_NOFOLLOW : O_PATH);
    int fd = openat(*at, name, flags);
    if (fd < 0 && errno == ENOENT) {
        /* EEXIST: somebody was faster, and what he made is checked like any other. */
        if (mkdirat(*at, name, 0700) != 0 && errno != EEXIST)
            return failed(ERR_IO, "cannot make the directory", path, fault);
        enum err e = sync_directory(*at, path, fault);
        if (e != ERR_OK)
            return e;
        fd = openat(*at, name, flags);
    }
    if (fd < 0)
        return refused(*at, name, path, fault);
    close(*at);
    *at = fd;
    return ERR_OK;
}

/* Takes the next name from the front of *rest; *last: nothing but slashes stands behind it. False: there is none that
 * fits. */
static bool next_name(const char **rest, char name[static NAME_MAX + 1], bool *last)
{
    const char *at = *rest + strspn(*rest, "/");
    size_t len = strcspn(at, "/");
    if (len == 0 || len > NAME_MAX)
        return false;
    memcpy(name, at, len);
    name[len] = '\0';
    *rest = at + len;
    *last = (*rest)[strspn(*rest, "/")] == '\0';
    return true;
}

/* Opens the directory, making what is missing on the way. */
static enum err walk(const char *path, int *out, struct fault *fault)
{
    enum err e = ERR_OK;
    char name[NAME_MAX + 1];
    const char *rest = path;
    bool is_last = false;
    if (path[0] != '/')
        return fault_set(fault, ERR_PATH, "not an absolute path: %s", path);
    if (path[strspn(path, "/")] == '\0')
        return fault_set(fault, ERR_PATH, "not a directory of our own: %s", path);
    int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return failed(ERR_IO, "cannot open the directory", "/", fault);
    while (e == ERR_OK && next_name(&rest, name, &is_last))
        e = enter(&at, name, is_last, path, fault);
    if (e == ERR_OK && !is_last)
        e = fault_set(fault, ERR_PATH, "a name in the path is longer than %d bytes: %s", NAME_MAX, path);
    if (e != ERR_OK) {
        close(at);
        return e;
    }
    *out = at;
    return ERR_OK;
}

static enum err check_owner(int fd, struct stat *st, const char *path, struct fault *fault)
{
    if (fstat(fd, st) != 0)
        return failed(ERR_IO, "cannot examine the directory", path, fault);
    if (st->st_uid != geteuid())
        return fault_set(fault, ERR_PATH,
                         "the directory belongs to uid %u and we are uid %u; choose another, or chown %s",
                         (unsigned)st->st_uid, (unsigned)geteuid(), path);
    return ERR_OK;
}

static enum err check_private(int fd, const char *path, struct fault *fault)
{
    struct stat st;
    enum err e = check_owner(fd, &st, path, fault);
    if (e == ERR_OK && (st.st_mode & S_ISVTX) != 0)
        return fault_set(fault, ERR_PATH, "%s is shared by everybody: choose a directory of the signer's own", path);
    if (e == ERR_OK && (st.st_mode & 077) != 0)
        return fault_set(fault, ERR_PATH,
                         "others may enter the directory (mode %03o): if it is the signer's own, run: chmod 700 %s",
                         (unsigned)(st.st_mode & 0777), path);
    return e;
}

/* Opens a directory of ours to the group, unless it is open to more than that already. */
static enum err share(int fd, gid_t group, const char *path, struct fault *fault)
{
    struct stat st;
    enum err e = check_owner(fd, &st, path, fault);
    if (e != ERR_OK)
        return e;
    if ((st.st_mode & 027) != 0)
        return fault_set(fault, ERR_PATH,
                         "others may write to the directory or enter it (mode %03o); run: chmod 750 %s",
                         (unsigned)(st.st_mode & 0777), path);
    if (st.st_gid != group && fchown(fd, (uid_t)-1, group) != 0)
        return failed(ERR_PATH, "cannot give the directory to the group", path, fault);
    if ((st.st_mode & 0777) != 0750 && fchmod(fd, 0750) != 0)
        return failed(ERR_IO, "cannot open the directory to its group", path, fault);
    return ERR_OK;
}

enum err datadir_make(const char *path, gid_t group, struct fault *fault)
{
    int fd = -1;
    enum err e = walk(path, &fd, fault);
    if (e != ERR_OK)
        return e;
    e = group == (gid_t)-1 ? check_private(fd, path, fault) : share(fd, group, path, fault);
    close(fd);
    return e;
}

/* Who holds the lock, for people only: the number in the file may be anything. */
static enum err locked(int lock, const char *path, struct fault *fault)
{
    char text[PID_TEXT_BYTES] = "";
    ssize_t n = pread(lock, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    size_t digits = strspn(text, "0123456789");
    if (digits == 0)
        return fault_set(fault, ERR_LOCKED, "another signer uses this data directory, stop it first: %s", path);
    return fault_set(fault, ERR_LOCKED, "another signer (process %.*s) uses this data directory, stop it first: %s",
                     (int)digits, text, path);
}

/* Opens and locks the file. *same false: the file had been replaced in between, and the lock on it is worth nothing. */
static enum err take(int directory, const char *path, int *out, bool *same, struct fault *fault)
{
    enum err e = ERR_OK;
    struct stat ours, named;
    int lock = openat(directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (lock < 0)
        return failed(ERR_IO, "cannot open the file \"lock\" in the directory", path, fault);
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
        e = errno == EWOULDBLOCK ? locked(lock, path, fault) : failed(ERR_IO, "cannot lock the directory", path, fault);
        goto out;
    }
    if (fstat(lock, &ours) != 0) {
        e = failed(ERR_IO, "cannot examine the file \"lock\" in the directory", path, fault);
        goto out;
    }
    *same = fstatat(directory, "lock", &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == ours.st_dev &&
            named.st_ino == ours.st_ino;
    *out = lock;
    lock = -1;
out:
    if (lock >= 0)
        close(lock);
    return e;
}

/* The lock holds whether or not this works; the number only helps the person who is told about it. */
static void sign_lock(int lock)
{
    char text[PID_TEXT_BYTES];
    int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(lock, 0) == 0) {
        ssize_t n = pwrite(lock, text, (size_t)len, 0);
        (void)n;
    }
}

enum err datadir_open(const char *path, int *lock, struct fault *fault)
{
    int directory = -1;
    enum err e = walk(path, &directory, fault);
    if (e != ERR_OK)
        return e;
    e = check_private(directory, path, fault);
    for (int tries = 0; e == ERR_OK && tries < LOCK_TRIES; tries++) {
        int got = -1;
        bool same = false;
        e = take(directory, path, &got, &same, fault);
        if (e == ERR_OK && same) {
            sign_lock(got);
            close(directory);
            *lock = got;
            return ERR_OK;
        }
        datadir_close(got);
    }
    if (e == ERR_OK)
        e = fault_set(fault, ERR_IO, "the file \"lock\" is replaced again and again in %s", path);
    close(directory);
    return e;
}

void datadir_close(int lock)
{
    if (lock >= 0)
        close(lock);
}
