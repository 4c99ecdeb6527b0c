#define _GNU_SOURCE
#include "signer/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { QUEUE_LENGTH = 512 }; /* connections that wait while a batch goes to the disk */

static enum err failed(const char *what, const char *path, struct fault *fault)
{
    return fault_set(fault, ERR_IO, "%s (%s): %s", what, strerror(errno), path);
}

/* Whoever can write to the directory could put a socket of his own in place of ours. */
static enum err check_directory(const char *path, struct fault *fault)
{
    char directory[PEER_MAX_PATH + 1];
    struct stat st;
    const char *slash = strrchr(path, '/');
    if (path[0] != '/' || slash[1] == '\0')
        return fault_set(fault, ERR_PATH, "a socket needs an absolute path that ends in its name: %s", path);
    snprintf(directory, sizeof directory, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (lstat(directory, &st) != 0)
        return failed("cannot examine the socket's directory", directory, fault);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0)
        return fault_set(fault, ERR_PATH, "the socket's directory must be ours alone to write to: %s", directory);
    return ERR_OK;
}

/* Whether somebody listens at the address. *refused: the kernel says that nobody does. */
static int knock(const struct sockaddr_un *address, bool *refused)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    *refused = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;
    close(fd);
    return 0;
}

/* Removes a socket that a signer left behind when it was killed, and nothing else. */
static enum err make_room(const char *path, const struct sockaddr_un *address, struct fault *fault)
{
    struct stat st;
    bool refused = false;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? ERR_OK : failed("cannot examine the socket's path", path, fault);
    if (!S_ISSOCK(st.st_mode))
        return fault_set(fault, ERR_PATH, "something that is not a socket is in the way; move it: %s", path);
    if (st.st_uid != geteuid())
        return fault_set(fault, ERR_PATH, "a socket of uid %u is in the way; remove it: %s", (unsigned)st.st_uid, path);
    if (knock(address, &refused) != 0)
        return failed("cannot make a socket", path, fault);
    if (!refused)
        return fault_set(fault, ERR_STATE, "another program listens there; stop it or choose another path: %s", path);
    if (unlink(path) != 0 && errno != ENOENT)
        return failed("cannot remove the old socket", path, fault);
    return ERR_OK;
}

static int bind_privately(int fd, const struct sockaddr_un *address)
{
    mode_t before = umask(0177);
    int r = bind(fd, (const struct sockaddr *)address, sizeof *address);
    int saved = errno;
    umask(before);
    errno = saved;
    return r;
}

/* Binds and listens; the socket is 0600 from its first moment, and the group is let in last. */
static enum err start(struct listen *l, const struct sockaddr_un *address, gid_t group, struct fault *fault)
{
    struct stat st;
    if (bind_privately(l->fd, address) != 0)
        return failed("cannot bind the socket", l->path, fault);
    if (lstat(l->path, &st) != 0)
        return failed("cannot examine the new socket", l->path, fault);
    l->dev = st.st_dev;
    l->ino = st.st_ino;
    if (listen(l->fd, QUEUE_LENGTH) != 0)
        return failed("cannot listen on the socket", l->path, fault);
    if (group != (gid_t)-1 && (lchown(l->path, (uid_t)-1, group) != 0 || chmod(l->path, 0660) != 0))
        return failed("cannot open the socket to its group", l->path, fault);
    return ERR_OK;
}

enum err listen_open(const char *path, gid_t group, struct listen *out, struct fault *fault)
{
    struct listen l = {.fd = -1};
    struct sockaddr_un address;
    if (peer_address(path, &address) != 0)
        return fault_set(fault, ERR_PATH, "a socket's path has 1 to %d bytes, not %zu; choose a shorter one: %s",
                         (int)PEER_MAX_PATH, strlen(path), path);
    memcpy(l.path, path, strlen(path) + 1);
    enum err e = check_directory(path, fault);
    if (e == ERR_OK)
        e = make_room(path, &address, fault);
    if (e != ERR_OK)
        return e;
    l.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l.fd < 0)
        return failed("cannot make a socket", path, fault);
    e = start(&l, &address, group, fault);
    if (e != ERR_OK) {
        listen_close(&l);
        return e;
    }
    *out = l;
    return ERR_OK;
}

void listen_close(struct listen *l)
{
    struct stat st;
    if (l->fd < 0)
        return;
    /* While the socket is open nothing else can get its inode number. */
    if (lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
        unlink(l->path);
    close(l->fd);
    l->fd = -1;
}
