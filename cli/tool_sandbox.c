#include "cli/tool_sandbox.h"

#include <stddef.h>

#include "cli/tool.h"

enum { TIMEOUT_MS = 5000 };

bool tool_sandbox_works(const char *path)
{
    static char bind[] = "--ro-bind", root[] = "/", command[] = "true", search[] = "PATH=/usr/bin:/bin";
    char program[PATHS_MAX];
    char *argv[] = {program, bind, root, root, command, NULL}, *environment[] = {search, NULL};
    int status = -1;
    return tool_find("bwrap", path, program) && tool_run(argv, environment, TIMEOUT_MS, NULL, &status) == ERR_OK &&
           status == 0;
}
