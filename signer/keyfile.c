#define _GNU_SOURCE
#include "signer/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum err check(int fd, const char *name, struct fault *fault)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fault_set(fault, ERR_IO, "keys/%s: %s", name, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fault_set(fault, ERR_CONFIG, "keys/%s is not a regular file", name);
    if (st.st_uid != geteuid())
        return fault_set(fault, ERR_CONFIG, "keys/%s belongs to uid %u, not to us", name, (unsigned)st.st_uid);
    if ((st.st_mode & 077) != 0)
        return fault_set(fault, ERR_CONFIG, "keys/%s is open to others (mode %03o): chmod 600 it", name,
                         (unsigned)(st.st_mode & 0777));
    if (st.st_size != KEYFILE_BYTES)
        return fault_set(fault, ERR_CONFIG, "keys/%s has %lld bytes, not %d: restore it from a backup", name,
                         (long long)st.st_size, KEYFILE_BYTES);
    return ERR_OK;
}

enum err keyfile_read(int directory, const char *name, uint8_t key[static KEYFILE_BYTES], struct fault *fault)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return fault_set(fault, ERR_NOT_FOUND,
                         "keys/%s is missing: without it this ledger cannot be continued; restore it"
                         " from a backup",
                         name);
    if (fd < 0)
        return fault_set(fault, ERR_IO, "keys/%s: %s", name, strerror(errno));
    enum err e = check(fd, name, fault);
    if (e == ERR_OK) {
        ssize_t n;
        do {
            n = read(fd, key, KEYFILE_BYTES);
        } while (n < 0 && errno == EINTR);
        if (n != KEYFILE_BYTES)
            e = fault_set(fault, ERR_IO, "keys/%s: cannot read it whole", name);
    }
    close(fd);
    return e;
}

static enum err write_all(int fd, const uint8_t *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(fd, bytes + done, len - done);
        if (n < 0 && errno != EINTR)
            return ERR_IO;
        if (n > 0)
            done += (size_t)n;
    }
    return ERR_OK;
}

/* Writes and syncs NAME.new. What a start that was cut short left there is no key yet: nothing was ever made with it. */
static enum err write_new(int directory, const char *name, const uint8_t key[static KEYFILE_BYTES])
{
    if (unlinkat(directory, name, 0) != 0 && errno != ENOENT)
        return ERR_IO;
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return ERR_IO;
    enum err e = write_all(fd, key, KEYFILE_BYTES);
    if (e == ERR_OK && fsync(fd) != 0)
        e = ERR_SYNC;
    if (close(fd) != 0 && e == ERR_OK)
        e = ERR_IO;
    return e;
}

/* Gives NAME.new its name, unless that is taken. */
static enum err put_in_place(int directory, const char *new_name, const char *name)
{
    struct stat st;
    if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return ERR_IO;
    }
    return errno == ENOENT && renameat(directory, new_name, directory, name) == 0 ? ERR_OK : ERR_IO;
}

enum err keyfile_create(int directory, const char *name, const uint8_t key[static KEYFILE_BYTES], struct fault *fault)
{
    char new_name[KEYFILE_NAME_BYTES];
    if (snprintf(new_name, sizeof new_name, "%s.new", name) >= (int)sizeof new_name)
        return fault_set(fault, ERR_IO, "keys/%s: the name is too long", name);
    enum err e = write_new(directory, new_name, key);
    if (e == ERR_OK)
        e = put_in_place(directory, new_name, name);
    if (e != ERR_OK) {
        fault_set(fault, e, "keys/%s: cannot write it: %s", name, strerror(errno));
        unlinkat(directory, new_name, 0);
        return e;
    }
    return fsync(directory) == 0
               ? ERR_OK
               : fault_set(fault, ERR_SYNC, "keys/%s: the disk did not confirm it: %s", name, strerror(errno));
}
