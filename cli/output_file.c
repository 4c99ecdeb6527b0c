#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/temporary.h"
#include "evidence/buf.h"

enum { PATH_BYTES_MAX = 4096 };

struct output_file {
    char *path, *temporary, *directory; /* owned */
    FILE *stream;
    bool replace, exists; /* exists: the temporary file */
};

/* Whether the wanted name may be taken. */
static enum err check_target(const char *path, bool replace, struct fault *fault)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        if (errno == ENOENT)
            return ERR_OK;
        return fault_set(fault, ERR_PATH, "cannot write %s: %s", path, strerror(errno));
    }
    if (!S_ISREG(st.st_mode))
        return fault_set(fault, ERR_PATH, "%s is there and is not a regular file. Choose another name", path);
    if (!replace)
        return fault_set(fault, ERR_PATH, "%s is there already. Choose another name, or give --force to replace it",
                         path);
    return ERR_OK;
}

static char *text_copy(const char *text, size_t len, const char *tail)
{
    struct buf b;
    buf_init(&b, PATH_BYTES_MAX + 32);
    buf_put(&b, text, len);
    buf_put(&b, tail, strlen(tail) + 1);
    if (buf_err(&b) != ERR_OK)
        buf_wipe(&b);
    return (char *)b.data;
}

static enum err set_names(struct output_file *f, const char *path)
{
    const char *slash = strrchr(path, '/');
    f->path = text_copy(path, strlen(path), "");
    f->temporary = text_copy(path, strlen(path), ".tmp-XXXXXX");
    f->directory = slash == NULL   ? text_copy(".", 1, "")
                   : slash == path ? text_copy("/", 1, "")
                                   : text_copy(path, (size_t)(slash - path), "");
    return f->path != NULL && f->temporary != NULL && f->directory != NULL ? ERR_OK : ERR_NOMEM;
}

enum err output_file_open(const char *path, bool replace, struct output_file **out, struct fault *fault)
{
    struct output_file *f = NULL;
    size_t len = strlen(path);
    int fd = -1;
    if (len == 0 || len > PATH_BYTES_MAX || path[len - 1] == '/')
        return fault_set(fault, ERR_PATH, "the file's name is empty or too long. Choose another name");
    enum err e = check_target(path, replace, fault);
    if (e != ERR_OK)
        return e;
    f = calloc(1, sizeof *f);
    if (f == NULL || set_names(f, path) != ERR_OK) {
        e = fault_set(fault, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
        goto out;
    }
    f->replace = replace;
    fd = temporary_make(f->temporary);
    if (fd < 0) {
        e = fault_set(fault, ERR_IO, "cannot make a file in %s: %s", f->directory, strerror(errno));
        goto out;
    }
    f->exists = true;
    f->stream = fdopen(fd, "w+");
    if (f->stream == NULL) {
        e = fault_set(fault, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
        goto out;
    }
    *out = f;
    return ERR_OK;
out:
    if (fd >= 0)
        close(fd);
    output_file_close(f);
    return e;
}

FILE *output_file_stream(struct output_file *f)
{
    return f->stream;
}

/* Gives the file its name when nothing has it: link refuses a name that is taken. Where there are no hard links, a name
 * that was taken since the last look would be replaced. */
static enum err take_free_name(struct output_file *f, struct fault *fault)
{
    if (link(f->temporary, f->path) == 0) {
        f->exists = unlink(f->temporary) != 0;
        return ERR_OK;
    }
    if (errno != EEXIST && errno != EPERM && errno != ENOTSUP && errno != ENOSYS && errno != EMLINK)
        return fault_set(fault, ERR_IO, "cannot name the file %s: %s", f->path, strerror(errno));
    enum err e = check_target(f->path, false, fault);
    if (e != ERR_OK)
        return e;
    if (rename(f->temporary, f->path) != 0)
        return fault_set(fault, ERR_IO, "cannot name the file %s: %s", f->path, strerror(errno));
    f->exists = false;
    return ERR_OK;
}

static enum err take_name(struct output_file *f, struct fault *fault)
{
    if (!f->replace)
        return take_free_name(f, fault);
    enum err e = check_target(f->path, true, fault);
    if (e != ERR_OK)
        return e;
    if (rename(f->temporary, f->path) != 0)
        return fault_set(fault, ERR_IO, "cannot name the file %s: %s", f->path, strerror(errno));
    f->exists = false;
    return ERR_OK;
}

static enum err sync_directory(const char *path, struct fault *fault)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Some file systems cannot sync a directory and say EINVAL; there is nothing else to do there. */
    bool synced = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    int saved = errno;
    if (fd >= 0)
        close(fd);
    if (!synced)
        return fault_set(fault, ERR_SYNC, "the disk did not confirm the new name in %s: %s", path, strerror(saved));
    return ERR_OK;
}

enum err output_file_commit(struct output_file *f, struct fault *fault)
{
    if (fflush(f->stream) != 0 || ferror(f->stream))
        return fault_set(fault, ERR_IO, "cannot write %s: %s", f->temporary, strerror(errno));
    if (fsync(fileno(f->stream)) != 0)
        return fault_set(fault, ERR_SYNC, "the disk did not confirm %s: %s", f->temporary, strerror(errno));
    enum err e = take_name(f, fault);
    if (e != ERR_OK)
        return e;
    return sync_directory(f->directory, fault);
}

void output_file_close(struct output_file *f)
{
    if (f == NULL)
        return;
    if (f->stream != NULL)
        fclose(f->stream);
    if (f->exists)
        unlink(f->temporary);
    temporary_forget();
    free(f->path);
    free(f->temporary);
    free(f->directory);
    free(f);
}
