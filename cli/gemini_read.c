#define _XOPEN_SOURCE 700 /* realpath */

#include "cli/gemini_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum err refuse(enum err e, const char *path, const char *why, struct fault *fault)
{
    return fault_set(fault, e, "%.200s %s: it cannot be told what Gemini makes of it", path, why);
}

/* Reads until `size` bytes or the end; -1 with errno. */
static ssize_t read_all(int fd, char *bytes, size_t size)
{
    size_t len = 0;
    while (len < size) {
        ssize_t n = read(fd, bytes + len, size - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

static enum err read_open(struct arena *arena, int fd, struct settings_file *file, struct fault *fault)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return refuse(ERR_IO, file->path, "is no regular file", fault);
    if (st.st_size > SETTINGS_FILE_BYTES)
        return refuse(ERR_TOO_LARGE, file->path, "is larger than 1 MiB", fault);
    /* One byte more tells whether it has grown. */
    size_t size = (size_t)st.st_size + 1;
    char *text = arena_alloc(arena, size);
    if (text == NULL)
        return ERR_NOMEM;
    ssize_t len = read_all(fd, text, size);
    if (len < 0)
        return refuse(ERR_IO, file->path, "cannot be read", fault);
    if ((size_t)len == size)
        return refuse(ERR_IO, file->path, "changes while it is read", fault);
    file->text = text;
    file->len = (size_t)len;
    return ERR_OK;
}

enum err gemini_read(struct arena *arena, struct settings_file *file, struct fault *fault)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return ERR_OK;
    if (fd < 0)
        return refuse(ERR_IO, file->path, "cannot be opened", fault);
    enum err e = read_open(arena, fd, file, fault);
    close(fd);
    return e;
}

bool gemini_read_is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static bool is_roots(const char *path, bool directory)
{
    struct stat st, link;
    return stat(path, &st) == 0 && lstat(path, &link) == 0 && (!S_ISLNK(link.st_mode) || link.st_uid == 0) &&
           st.st_uid == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
           (directory ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode));
}

static bool is_roots_up_to_the_top(const char *path)
{
    char above[FOLDERS_PATH_BYTES];
    size_t len = strlen(path);
    if (len >= sizeof above || !is_roots(path, false))
        return false;
    memcpy(above, path, len + 1);
    while (len > 1) {
        while (len > 1 && above[len - 1] != '/')
            len--;
        len -= len > 1 ? 1 : 0;
        above[len] = '\0';
        if (!is_roots(above, true))
            return false;
    }
    return true;
}

bool gemini_read_is_secure(const char *path)
{
    char real[FOLDERS_PATH_BYTES];
    return is_roots_up_to_the_top(path) && gemini_read_resolve(NULL, path, real) && is_roots_up_to_the_top(real);
}

bool gemini_read_resolve(void *context, const char *path, char out[static FOLDERS_PATH_BYTES])
{
    (void)context;
    char *real = realpath(path, NULL);
    size_t len = real != NULL ? strlen(real) : FOLDERS_PATH_BYTES;
    if (len < FOLDERS_PATH_BYTES)
        memcpy(out, real, len + 1);
    free(real);
    return len < FOLDERS_PATH_BYTES;
}
