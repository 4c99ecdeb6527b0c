#include "cli/paths.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/peer.h"

static const char NAME[] = "tracekit-c";

/* An absolute path from the environment, or NULL. */
static const char *from_environment(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] == '/' ? value : NULL;
}

/* `a` and `b` behind each other, with a slash between them unless `a` ends in one. */
static enum err join(const char *a, const char *b, char out[static PATHS_MAX], struct fault *fault)
{
    char path[PATHS_MAX];
    size_t len = strlen(a);
    int n = snprintf(path, sizeof path, "%s%s%s", a, len > 0 && a[len - 1] == '/' ? "" : "/", b);
    if (n < 0 || n >= PATHS_MAX)
        return fault_set(fault, ERR_PATH, "a path below %.100s... would be longer than %d bytes; choose a shorter one",
                         a, PATHS_MAX - 1);
    memcpy(out, path, (size_t)n + 1);
    return ERR_OK;
}

enum err paths_absolute(const char *path, char out[static PATHS_MAX], struct fault *fault)
{
    char here[PATHS_MAX];
    if (path[0] == '\0')
        return fault_set(fault, ERR_PATH, "a path is empty; give its name, or leave the option out");
    if (path[0] == '/' && strlen(path) < PATHS_MAX) {
        memcpy(out, path, strlen(path) + 1);
        return ERR_OK;
    }
    if (path[0] == '/')
        return fault_set(fault, ERR_PATH, "%.100s... is longer than %d bytes; choose a shorter path", path,
                         PATHS_MAX - 1);
    if (getcwd(here, sizeof here) == NULL)
        return fault_set(fault, ERR_PATH, "the present directory has no usable path; give absolute paths");
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return join(here, path, out, fault);
}

enum err paths_data(const char *data, char out[static PATHS_MAX], struct fault *fault)
{
    if (data != NULL)
        return paths_absolute(data, out, fault);
    const char *base = from_environment("XDG_DATA_HOME");
    if (base != NULL)
        return join(base, NAME, out, fault);
    const char *home = from_environment("HOME");
    if (home == NULL)
        return fault_set(fault, ERR_PATH, "HOME names no directory; set it, or give --data DIR");
    char share[PATHS_MAX];
    enum err e = join(home, ".local/share", share, fault);
    return e != ERR_OK ? e : join(share, NAME, out, fault);
}

static enum err socket_directory(const char *data, char out[static PATHS_MAX], struct fault *fault)
{
    const char *runtime = from_environment("XDG_RUNTIME_DIR");
    if (data == NULL && runtime != NULL)
        return join(runtime, NAME, out, fault);
    char base[PATHS_MAX];
    enum err e = paths_data(data, base, fault);
    return e != ERR_OK ? e : join(base, "run", out, fault);
}

static enum err socket_path(const char *data, const char *socket, const char *name, char out[static PATHS_MAX],
                            struct fault *fault)
{
    char directory[PATHS_MAX], path[PATHS_MAX];
    enum err e = ERR_OK;
    if (socket != NULL) {
        e = paths_absolute(socket, path, fault);
    } else {
        e = socket_directory(data, directory, fault);
        if (e == ERR_OK)
            e = join(directory, name, path, fault);
    }
    if (e != ERR_OK)
        return e;
    if (strlen(path) > PEER_MAX_PATH)
        return fault_set(
            fault, ERR_PATH,
            "%.120s is too long for a socket (%zu bytes, the kernel takes %zu); choose a shorter directory", path,
            strlen(path), (size_t)PEER_MAX_PATH);
    memcpy(out, path, strlen(path) + 1);
    return ERR_OK;
}

enum err paths_agent_socket(const char *data, const char *socket, char out[static PATHS_MAX], struct fault *fault)
{
    return socket_path(data, socket, "agent.sock", out, fault);
}

enum err paths_control_socket(const char *data, const char *socket, char out[static PATHS_MAX], struct fault *fault)
{
    return socket_path(data, socket, "control.sock", out, fault);
}
