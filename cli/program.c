#include "cli/program.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Others may make a program of any name in it. Group members are left to whoever administers the machine. */
static bool is_open(const char *directory)
{
    struct stat st;
    return stat(directory, &st) == 0 && S_ISDIR(st.st_mode) &&
           ((st.st_mode & S_IWOTH) != 0 || (st.st_uid != 0 && st.st_uid != geteuid()));
}

bool program_is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

enum err program_beside(const char *name, char out[static PATHS_MAX], struct fault *fault)
{
    char path[PATHS_MAX];
    size_t name_len = strlen(name);
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    size_t len = n > 0 ? (size_t)n : 0;
    while (len > 0 && path[len - 1] != '/')
        len--;
    if (len == 0 || (size_t)n >= sizeof path || len + name_len >= sizeof path)
        return fault_set(fault, ERR_PATH, "cannot tell where this program lies, or its path is too long");
    memcpy(path + len, name, name_len + 1);
    memcpy(out, path, len + name_len + 1);
    return ERR_OK;
}

enum program_found program_find(const char *path, const char *name, char out[static PATHS_MAX])
{
    size_t name_len = strlen(name);
    if (path == NULL || path[0] == '\0')
        return PROGRAM_MISSING;
    for (;;) {
        char file[PATHS_MAX];
        size_t len = strcspn(path, ":");
        if (path[0] != '/')
            return PROGRAM_RELATIVE;
        if (len + 1 + name_len < sizeof file) {
            memcpy(file, path, len);
            file[len] = '\0';
            if (is_open(file))
                return PROGRAM_OPEN;
            file[len] = '/';
            memcpy(file + len + 1, name, name_len + 1);
            if (program_is_there(file)) {
                memcpy(out, file, len + 1 + name_len + 1);
                return PROGRAM_FOUND;
            }
        }
        if (path[len] == '\0')
            return PROGRAM_MISSING;
        path += len + 1;
    }
}
