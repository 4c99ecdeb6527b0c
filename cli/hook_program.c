#include "cli/hook_program.h"

#include <string.h>
#include <unistd.h>

#include "cli/hook_command.h"
#include "cli/program.h"

static enum err check_program(const char *path, struct fault *fault)
{
    if (access(path, F_OK) != 0)
        return fault_set(fault, ERR_PATH, "there is no %.160s; install tracekit-hook there, or give --hook PATH", path);
    if (!program_is_there(path))
        return fault_set(fault, ERR_PATH, "%.160s is not a program that may be run; give --hook PATH", path);
    return ERR_OK;
}

enum err hook_program_find(const char *given, char out[static PATHS_MAX], struct fault *fault)
{
    char path[PATHS_MAX];
    enum err e = given != NULL ? paths_absolute(given, path, fault) : program_beside("tracekit-hook", path, fault);
    if (e == ERR_OK)
        e = hook_command_check_path(path, fault);
    if (e == ERR_OK)
        e = check_program(path, fault);
    if (e == ERR_OK)
        memcpy(out, path, sizeof path);
    return e;
}
