#include "cli/daemon_env.h"

#include <string.h>

/* One that ends in '_' stands for all that begin so. */
static const char *const KEPT[] = {
    "HOME", "PATH", "LANG", "LANGUAGE", "LC_", "TZ", "USER", "LOGNAME", "TMPDIR", "XDG_", "DBUS_SESSION_BUS_ADDRESS"};

bool daemon_env_keeps(const char *variable)
{
    for (size_t i = 0; i < sizeof KEPT / sizeof KEPT[0]; i++) {
        size_t len = strlen(KEPT[i]);
        if (strncmp(variable, KEPT[i], len) == 0 && (KEPT[i][len - 1] == '_' || variable[len] == '='))
            return true;
    }
    return false;
}

void daemon_env_filter(char *const environment[], char *out[static DAEMON_ENV_MAX + 1])
{
    size_t count = 0;
    for (size_t i = 0; environment != NULL && environment[i] != NULL && count < DAEMON_ENV_MAX; i++)
        if (daemon_env_keeps(environment[i]))
            out[count++] = environment[i];
    out[count] = NULL;
}
