#include "cli/settings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/temporary.h"
#include "harness/settings.h"

static const char FOLDER[] = ".gemini";
static const char NAME[] = "settings.json";
enum { BACKUP_TRIES = 10, CHUNK = 64 << 10 };

enum err settings_file_base(bool project, char out[static PATHS_MAX], struct fault *fault)
{
    if (project)
        return getcwd(out, PATHS_MAX) != NULL
                   ? ERR_OK
                   : fault_set(fault, ERR_PATH, "the present directory has no usable path; change to another");
    const char *home = getenv("GEMINI_CLI_HOME");
    if (home == NULL || home[0] == '\0')
        home = getenv("HOME");
    if (home == NULL || home[0] == '\0')
        return fault_set(fault, ERR_PATH, "HOME names no directory; set it, or give --project");
    return paths_absolute(home, out, fault);
}

static enum err failed(enum err e, const char *what, const char *path, struct fault *fault)
{
    return fault_set(fault, e, "%s %.200s: %s", what, path, strerror(errno));
}

/* What is not ours alone to change is not read. */
static enum err check_owner(const struct stat *st, const char *what, struct fault *fault)
{
    if (st->st_uid != geteuid())
        return fault_set(fault, ERR_PATH, "%.200s belongs to another user (uid %ju); whoever owns it has to do this",
                         what, (uintmax_t)st->st_uid);
    if ((st->st_mode & 022) != 0)
        return fault_set(fault, ERR_PATH, "%.200s may be changed by others (mode %03o); run: chmod go-w on it", what,
                         (unsigned)(st->st_mode & 0777));
    return ERR_OK;
}

/* A directory that is not there leaves -1. */
static enum err open_folder(struct settings_file *f, const char *path, struct fault *fault)
{
    struct stat st;
    int fd = openat(f->base, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return ERR_OK;
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return fault_set(fault, ERR_PATH, "%.200s is a symbolic link or no directory; put a real directory there",
                         path);
    if (fd < 0)
        return failed(ERR_IO, "cannot open", path, fault);
    f->folder = fd;
    if (fstat(fd, &st) != 0)
        return failed(ERR_IO, "cannot examine", path, fault);
    return check_owner(&st, path, fault);
}

static enum err read_all(int fd, struct buf *out, const char *path, struct fault *fault)
{
    for (;;) {
        uint8_t *room = buf_reserve(out, CHUNK);
        if (room == NULL)
            break;
        ssize_t n = read(fd, room, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed(ERR_IO, "cannot read", path, fault);
        if (n == 0)
            break;
        buf_commit(out, (size_t)n);
    }
    if (buf_err(out) == ERR_TOO_LARGE || out->len > SETTINGS_MAX_BYTES)
        return fault_set(fault, ERR_TOO_LARGE, "%.200s is larger than %d bytes; edit it by hand", path,
                         SETTINGS_MAX_BYTES);
    return buf_err(out) == ERR_OK ? ERR_OK : fault_set(fault, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
}

/* Opens the file for reading; *fd -1: it is not there. */
static enum err open_file(const struct settings_file *f, int *fd, struct stat *st, struct fault *fault)
{
    int got = openat(f->folder, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (got < 0 && errno == ENOENT) {
        *fd = -1;
        return ERR_OK;
    }
    if (got < 0 && errno == ELOOP)
        return fault_set(fault, ERR_PATH, "%.200s is a symbolic link; edit what it leads to by hand", f->path);
    if (got < 0)
        return failed(ERR_IO, "cannot open", f->path, fault);
    enum err e = ERR_OK;
    if (fstat(got, st) != 0)
        e = failed(ERR_IO, "cannot examine", f->path, fault);
    else if (!S_ISREG(st->st_mode))
        e = fault_set(fault, ERR_PATH, "%.200s is no regular file; put one there", f->path);
    if (e == ERR_OK)
        e = check_owner(st, f->path, fault);
    if (e != ERR_OK) {
        close(got);
        return e;
    }
    *fd = got;
    return ERR_OK;
}

static enum err read_file(struct settings_file *f, struct fault *fault)
{
    int fd = -1;
    enum err e = open_file(f, &fd, &f->st, fault);
    if (e != ERR_OK || fd < 0)
        return e;
    f->exists = true;
    e = read_all(fd, &f->text, f->path, fault);
    close(fd);
    return e;
}

enum err settings_file_open(const char *base, struct settings_file *out, struct fault *fault)
{
    char folder[PATHS_MAX];
    memset(out, 0, sizeof *out);
    out->base = out->folder = -1;
    buf_init(&out->text, SETTINGS_MAX_BYTES + CHUNK + 1);
    int n = snprintf(folder, sizeof folder, "%s%s%s", base, base[strlen(base) - 1] == '/' ? "" : "/", FOLDER);
    int m = n < 0 ? n : snprintf(out->path, sizeof out->path, "%.*s/%s", PATHS_MAX - 1, folder, NAME);
    if (n < 0 || n >= PATHS_MAX || m < 0 || m >= PATHS_MAX)
        return fault_set(fault, ERR_PATH, "a path below %.100s... would be too long; choose a shorter one", base);
    out->base = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum err e = out->base < 0 ? failed(ERR_PATH, "cannot open the directory", base, fault) : ERR_OK;
    if (e == ERR_OK)
        e = open_folder(out, folder, fault);
    if (e == ERR_OK && out->folder >= 0)
        e = read_file(out, fault);
    if (e != ERR_OK)
        settings_file_close(out);
    return e;
}

void settings_file_close(struct settings_file *f)
{
    if (f->base >= 0)
        close(f->base);
    if (f->folder >= 0)
        close(f->folder);
    f->base = f->folder = -1;
    buf_wipe(&f->text);
}

/* Whether the file is still what was read. */
static enum err check_same(const struct settings_file *f, struct fault *fault)
{
    struct stat st;
    struct buf now;
    int fd = -1;
    buf_init(&now, f->text.max);
    enum err e = open_file(f, &fd, &st, fault);
    if (e == ERR_OK && fd >= 0)
        e = read_all(fd, &now, f->path, fault);
    bool same = (fd >= 0) == f->exists && now.len == f->text.len &&
                (now.len == 0 || memcmp(now.data, f->text.data, now.len) == 0);
    if (e == ERR_OK && !same)
        e = fault_set(fault, ERR_STATE, "%.200s was changed by somebody else just now; nothing was done, try again",
                      f->path);
    if (fd >= 0)
        close(fd);
    buf_wipe(&now);
    return e;
}

static enum err sync_folder(int fd, const char *path, struct fault *fault)
{
    /* Some file systems cannot sync a directory and say EINVAL. */
    if (fsync(fd) == 0 || errno == EINVAL)
        return ERR_OK;
    return failed(ERR_SYNC, "the disk did not confirm the new name of", path, fault);
}

static enum err write_all(int fd, const void *text, size_t len, const char *path, struct fault *fault)
{
    const char *at = text;
    while (len > 0) {
        ssize_t n = write(fd, at, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed(ERR_IO, "cannot write", path, fault);
        at += n;
        len -= (size_t)n;
    }
    return fsync(fd) == 0 ? ERR_OK : failed(ERR_SYNC, "the disk did not confirm", path, fault);
}

/* A copy of what was read, under a name of its own. */
static enum err keep_copy(struct settings_file *f, struct fault *fault)
{
    char name[SETTINGS_FILE_NAME_BYTES], when[32] = "";
    struct tm utc;
    time_t now = time(NULL);
    int fd = -1;
    if (gmtime_r(&now, &utc) == NULL || strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &utc) == 0)
        return fault_set(fault, ERR_IO, "the clock is out of range");
    for (int i = 1; fd < 0 && i <= BACKUP_TRIES; i++) {
        int n = snprintf(name, sizeof name, "%s.tracekit-backup-%s", NAME, when);
        if (i > 1)
            snprintf(name + n, sizeof name - (size_t)n, "-%d", i);
        fd = openat(f->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        return failed(ERR_IO, "cannot make a copy beside", f->path, fault);
    enum err e = write_all(fd, f->text.data, f->text.len, f->path, fault);
    close(fd);
    if (e != ERR_OK) {
        unlinkat(f->folder, name, 0);
        return e;
    }
    memcpy(f->backup, name, sizeof name);
    return ERR_OK;
}

static void drop_copy(struct settings_file *f)
{
    if (f->backup[0] != '\0')
        unlinkat(f->folder, f->backup, 0);
    f->backup[0] = '\0';
}

/* The new file gets mode and group of the old one. */
static enum err keep_mode(const struct settings_file *f, int fd, struct fault *fault)
{
    struct stat st;
    if (!f->exists)
        return ERR_OK;
    if (fstat(fd, &st) != 0)
        return failed(ERR_IO, "cannot examine the new text of", f->path, fault);
    if (st.st_gid != f->st.st_gid && fchown(fd, (uid_t)-1, f->st.st_gid) != 0)
        return failed(ERR_PATH, "cannot keep the group of", f->path, fault);
    if (fchmod(fd, f->st.st_mode & 0755) != 0)
        return failed(ERR_IO, "cannot keep the mode of", f->path, fault);
    return ERR_OK;
}

/* Gives the temporary file the name; a name that nothing had must still be free. */
static enum err take_name(const struct settings_file *f, const char *temporary, struct fault *fault)
{
    if (f->exists) {
        if (renameat(f->folder, temporary, f->folder, NAME) != 0)
            return failed(ERR_IO, "cannot replace", f->path, fault);
        return ERR_OK;
    }
    if (linkat(f->folder, temporary, f->folder, NAME, 0) != 0)
        return failed(errno == EEXIST ? ERR_STATE : ERR_IO, "cannot make", f->path, fault);
    unlinkat(f->folder, temporary, 0);
    return ERR_OK;
}

static enum err make_folder(struct settings_file *f, struct fault *fault)
{
    char folder[PATHS_MAX];
    if (f->folder >= 0)
        return ERR_OK;
    memcpy(folder, f->path, sizeof folder);
    folder[strlen(folder) - sizeof NAME] = '\0';
    if (mkdirat(f->base, FOLDER, 0700) != 0 && errno != EEXIST)
        return failed(ERR_IO, "cannot make the directory", folder, fault);
    enum err e = sync_folder(f->base, folder, fault);
    if (e == ERR_OK)
        e = open_folder(f, folder, fault);
    if (e == ERR_OK && f->folder < 0)
        e = fault_set(fault, ERR_STATE, "%.200s went away again; nothing was done, try again", folder);
    return e;
}

static enum err put_new(struct settings_file *f, int fd, const char *temporary, const char *text, size_t len,
                        struct fault *fault)
{
    enum err e = keep_mode(f, fd, fault);
    if (e == ERR_OK)
        e = write_all(fd, text, len, f->path, fault);
    if (e == ERR_OK && f->exists)
        e = keep_copy(f, fault);
    if (e == ERR_OK)
        e = check_same(f, fault);
    if (e == ERR_OK)
        e = take_name(f, temporary, fault);
    if (e != ERR_OK) {
        drop_copy(f);
        return e;
    }
    return sync_folder(f->folder, f->path, fault);
}

enum err settings_file_replace(struct settings_file *f, const char *text, size_t len, struct fault *fault)
{
    char temporary[PATHS_MAX + 32];
    enum err e = make_folder(f, fault);
    if (e != ERR_OK)
        return e;
    snprintf(temporary, sizeof temporary, "%s.tracekit-tmp-XXXXXX", f->path);
    int fd = temporary_make(temporary);
    if (fd < 0)
        return failed(ERR_IO, "cannot make a file beside", f->path, fault);
    const char *name = strrchr(temporary, '/') + 1;
    e = put_new(f, fd, name, text, len, fault);
    close(fd);
    if (e != ERR_OK)
        unlinkat(f->folder, name, 0);
    temporary_forget();
    return e;
}

enum err settings_file_remove(struct settings_file *f, struct fault *fault)
{
    enum err e = check_same(f, fault);
    if (e == ERR_OK && unlinkat(f->folder, NAME, 0) != 0)
        e = failed(ERR_IO, "cannot remove", f->path, fault);
    return e == ERR_OK ? sync_folder(f->folder, f->path, fault) : e;
}
