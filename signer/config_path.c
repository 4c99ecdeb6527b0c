#include "signer/config_path.h"

#include <stdio.h>
#include <string.h>

#include "wire/peer.h"

enum err config_path_join(const char *a, const char *b, char out[static CONFIG_PATH_BYTES], struct fault *fault)
{
    char path[CONFIG_PATH_BYTES];
    const char *gap = b[0] == '\0' || a[strlen(a) - 1] == '/' ? "" : "/";
    int n = snprintf(path, sizeof path, "%s%s%s", a, gap, b);
    if (n < 0 || n >= (int)sizeof path)
        return fault_set(fault, ERR_PATH, "a path is longer than %d bytes; choose a shorter one: %s",
                         (int)CONFIG_PATH_BYTES - 1, a);
    while (n > 1 && path[n - 1] == '/')
        path[--n] = '\0';
    memcpy(out, path, (size_t)n + 1);
    return ERR_OK;
}

enum err config_path_socket(const char *path, struct fault *fault)
{
    if (strlen(path) <= PEER_MAX_PATH)
        return ERR_OK;
    return fault_set(fault, ERR_PATH,
                     "a socket's path has at most %d bytes, and this one %zu; choose a shorter one: %s",
                     (int)PEER_MAX_PATH, strlen(path), path);
}
