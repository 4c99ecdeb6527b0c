#define _GNU_SOURCE
#include "tests/unit/faulty_vfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 256 };

struct file {
    sqlite3_file base;
    char path[PATH_BYTES];
    sqlite3_file *real; /* behind this struct */
};

/* What stood where something was written and not synced, newest first. */
struct lost {
    struct lost *next;
    char path[PATH_BYTES];
    sqlite3_int64 at, old_size;
    int len;
    char bytes[];
};

static sqlite3_vfs *below, faulty;
static sqlite3_io_methods methods;
static struct faulty_plan plan;
static int seen;
static struct lost *unsynced;

static void forget(const char *path)
{
    for (struct lost **at = &unsynced; *at != NULL;) {
        struct lost *l = *at;
        if (strcmp(l->path, path) != 0) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        free(l);
    }
}

static void remember(struct file *f, sqlite3_int64 at, sqlite3_int64 len)
{
    sqlite3_int64 size = 0;
    f->real->pMethods->xFileSize(f->real, &size);
    if (at + len > size)
        len = at < size ? size - at : 0;
    struct lost *l = calloc(1, sizeof *l + (size_t)len);
    if (l == NULL)
        abort();
    snprintf(l->path, sizeof l->path, "%s", f->path);
    l->at = at;
    l->len = (int)len;
    l->old_size = size;
    if (len > 0 && f->real->pMethods->xRead(f->real, l->bytes, (int)len, at) != SQLITE_OK)
        abort();
    l->next = unsynced;
    unsynced = l;
}

static void cut_power(void)
{
    for (const struct lost *l = unsynced; l != NULL; l = l->next) {
        int fd = open(l->path, O_WRONLY);
        if (fd < 0 || pwrite(fd, l->bytes, (size_t)l->len, l->at) != l->len || ftruncate(fd, l->old_size) != 0)
            abort();
        close(fd);
    }
    _exit(FAULTY_EXIT);
}

/* Whether this operation fails; it may be the last thing that happens. */
static bool is_failing(void)
{
    seen++;
    switch (plan.mode) {
    case FAULTY_NONE:
        return false;
    case FAULTY_ONCE:
        return seen == plan.at;
    case FAULTY_FOR_EVER:
        return seen >= plan.at;
    case FAULTY_KILL:
        if (seen == plan.at)
            _exit(FAULTY_EXIT);
        return false;
    case FAULTY_POWER_CUT:
        if (seen == plan.at)
            cut_power();
        return false;
    }
    return false;
}

static int failure(int code)
{
    return plan.is_full ? SQLITE_FULL : code;
}

static int write_file(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    struct file *f = (struct file *)file;
    if (is_failing())
        return failure(SQLITE_IOERR_WRITE);
    if (plan.mode == FAULTY_POWER_CUT)
        remember(f, at, len);
    return f->real->pMethods->xWrite(f->real, bytes, len, at);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
    struct file *f = (struct file *)file;
    if (is_failing())
        return SQLITE_IOERR_TRUNCATE;
    if (plan.mode == FAULTY_POWER_CUT)
        remember(f, size, INT32_MAX);
    return f->real->pMethods->xTruncate(f->real, size);
}

static int sync_file(sqlite3_file *file, int flags)
{
    (void)flags;
    if (is_failing())
        return SQLITE_IOERR_FSYNC;
    forget(((struct file *)file)->path);
    return SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *bytes, int len, sqlite3_int64 at)
{
    struct file *f = (struct file *)file;
    return f->real->pMethods->xRead(f->real, bytes, len, at);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    struct file *f = (struct file *)file;
    return f->real->pMethods->xFileSize(f->real, size);
}

static int lock(sqlite3_file *file, int kind)
{
    struct file *f = (struct file *)file;
    return f->real->pMethods->xLock(f->real, kind);
}

static int unlock(sqlite3_file *file, int kind)
{
    struct file *f = (struct file *)file;
    return f->real->pMethods->xUnlock(f->real, kind);
}

static int check_lock(sqlite3_file *file, int *out)
{
    struct file *f = (struct file *)file;
    return f->real->pMethods->xCheckReservedLock(f->real, out);
}

static int control(sqlite3_file *file, int op, void *arg)
{
    struct file *f = (struct file *)file;
    return f->real->pMethods->xFileControl(f->real, op, arg);
}

static int sector_size(sqlite3_file *file)
{
    struct file *f = (struct file *)file;
    return f->real->pMethods->xSectorSize(f->real);
}

static int characteristics(sqlite3_file *file)
{
    struct file *f = (struct file *)file;
    return f->real->pMethods->xDeviceCharacteristics(f->real);
}

static int close_file(sqlite3_file *file)
{
    struct file *f = (struct file *)file;
    return f->real->pMethods->xClose(f->real);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    struct file *f = (struct file *)file;
    (void)vfs;
    f->real = (sqlite3_file *)(f + 1);
    snprintf(f->path, sizeof f->path, "%s", name != NULL ? name : "");
    int rc = below->xOpen(below, name, f->real, flags, out_flags);
    file->pMethods = f->real->pMethods != NULL ? &methods : NULL;
    return rc;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    (void)vfs;
    forget(name);
    return below->xDelete(below, name, sync_directory);
}

void faulty_vfs_install(void)
{
    below = sqlite3_vfs_find(NULL);
    faulty = *below;
    faulty.zName = "faulty";
    faulty.szOsFile = (int)sizeof(struct file) + below->szOsFile;
    faulty.xOpen = open_file;
    faulty.xDelete = delete_file;
    /* Version 1: the signer needs no shared memory, for it locks the database exclusively. */
    methods = (sqlite3_io_methods){
        .iVersion = 1,
        .xClose = close_file,
        .xRead = read_file,
        .xWrite = write_file,
        .xTruncate = truncate_file,
        .xSync = sync_file,
        .xFileSize = file_size,
        .xLock = lock,
        .xUnlock = unlock,
        .xCheckReservedLock = check_lock,
        .xFileControl = control,
        .xSectorSize = sector_size,
        .xDeviceCharacteristics = characteristics,
    };
    if (sqlite3_vfs_register(&faulty, 1) != SQLITE_OK)
        abort();
}

void faulty_vfs_arm(const struct faulty_plan *p)
{
    while (unsynced != NULL)
        forget(unsynced->path);
    plan = *p;
    seen = 0;
}

bool faulty_vfs_fired(void)
{
    return plan.mode != FAULTY_NONE && seen >= plan.at;
}
