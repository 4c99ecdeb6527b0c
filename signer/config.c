#include "signer/config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "signer/config_path.h"

#define DIRECTORY_NAME "tracekit-c"
#define DEFAULT_TENANT "local"

/* As the XDG base directory specification asks, a value that is no absolute path counts as none. */
static const char *usable(const char *value)
{
    return value != NULL && value[0] == '/' ? value : NULL;
}

/* Where the data lie without --data. */
static enum err default_data(const struct config_env *env, char out[static CONFIG_PATH_BYTES], struct fault *fault)
{
    if (usable(env->xdg_data_home) != NULL)
        return config_path_join(env->xdg_data_home, DIRECTORY_NAME, out, fault);
    if (usable(env->home) != NULL)
        return config_path_join(env->home, ".local/share/" DIRECTORY_NAME, out, fault);
    return fault_set(fault, ERR_CONFIG, "HOME names no directory; set it, or give --data DIR");
}

/* The directory that a person named, from here when it is relative. */
static enum err named_data(const char *name, char out[static CONFIG_PATH_BYTES], struct fault *fault)
{
    char here[CONFIG_PATH_BYTES];
    if (name[0] == '\0')
        return fault_set(fault, ERR_PATH, "the data directory has no name; give --data DIR or leave it out");
    if (name[0] == '/')
        return config_path_join(name, "", out, fault);
    if (getcwd(here, sizeof here) == NULL)
        return fault_set(fault, ERR_PATH, "the present directory has no usable path; give --data an absolute one");
    return config_path_join(here, name, out, fault);
}

enum err config_dev(const char *data_dir, const struct config_env *env, struct config *out, struct fault *fault)
{
    struct config c = {.dev = true, .tenant = DEFAULT_TENANT, .agent_group = (gid_t)-1};
    char sockets[CONFIG_PATH_BYTES];
    enum err e = data_dir != NULL ? named_data(data_dir, c.data_dir, fault) : default_data(env, c.data_dir, fault);
    if (e != ERR_OK)
        return e;
    if (data_dir == NULL && usable(env->xdg_runtime_dir) != NULL)
        e = config_path_join(env->xdg_runtime_dir, DIRECTORY_NAME, sockets, fault);
    else
        e = config_path_join(c.data_dir, "run", sockets, fault);
    if (e == ERR_OK)
        e = config_path_join(sockets, "agent.sock", c.agent_socket, fault);
    if (e == ERR_OK)
        e = config_path_join(sockets, "control.sock", c.control_socket, fault);
    if (e == ERR_OK)
        e = config_path_socket(c.agent_socket, fault);
    if (e == ERR_OK)
        e = config_path_socket(c.control_socket, fault);
    if (e == ERR_OK)
        *out = c;
    return e;
}
