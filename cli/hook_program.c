#include "cli/hook_program.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/hook_command.h"

/* Puts the path of tracekit-hook beside the running program into `out`. */
static enum err default_hook(char out[static PATHS_MAX], struct fault *fault)
{
    static const char NAME[] = "tracekit-hook";
    char path[PATHS_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    size_t len = n > 0 ? (size_t)n : 0;
    while (len > 0 && path[len - 1] != '/')
        len--;
    if (len == 0 || (size_t)n >= sizeof path || len + sizeof NAME > sizeof path)
        return fault_set(fault, ERR_PATH, "cannot tell where this program lies; give --hook PATH");
    memcpy(path + len, NAME, sizeof NAME);
    memcpy(out, path, len + sizeof NAME);
    return ERR_OK;
}

static enum err check_program(const char *path, struct fault *fault)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return fault_set(fault, ERR_PATH, "there is no %.160s; install tracekit-hook there, or give --hook PATH", path);
    if (!S_ISREG(st.st_mode) || access(path, X_OK) != 0)
        return fault_set(fault, ERR_PATH, "%.160s is not a program that may be run; give --hook PATH", path);
    return ERR_OK;
}

enum err hook_program_find(const char *given, char out[static PATHS_MAX], struct fault *fault)
{
    char path[PATHS_MAX];
    enum err e = given != NULL ? paths_absolute(given, path, fault) : default_hook(path, fault);
    if (e == ERR_OK)
        e = hook_command_check_path(path, fault);
    if (e == ERR_OK)
        e = check_program(path, fault);
    if (e == ERR_OK)
        memcpy(out, path, sizeof path);
    return e;
}
