#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence/buf.h"
#include "policy/yaml.h"
#include "signer/config.h"
#include "signer/config_path.h"
#include "wire/peer.h"

enum { READ_BYTES = 16 << 10 };

static enum err check_file(int fd, const char *path, struct fault *fault)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fault_set(fault, ERR_IO, "cannot examine the configuration (%s): %s", strerror(errno), path);
    if (!S_ISREG(st.st_mode))
        return fault_set(fault, ERR_CONFIG, "the configuration is not a regular file: %s", path);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return fault_set(fault, ERR_CONFIG,
                         "the configuration belongs to uid %u; it has to belong to root or to uid %u: %s",
                         (unsigned)st.st_uid, (unsigned)geteuid(), path);
    if ((st.st_mode & 022) != 0)
        return fault_set(fault, ERR_CONFIG, "others may write to the configuration (mode %03o); run: chmod go-w %s",
                         (unsigned)(st.st_mode & 0777), path);
    return ERR_OK;
}

static enum err read_all(int fd, const char *path, struct buf *text, struct fault *fault)
{
    for (;;) {
        uint8_t *at = buf_reserve(text, READ_BYTES);
        if (at == NULL)
            return fault_set(fault, buf_err(text) == ERR_NOMEM ? ERR_NOMEM : ERR_CONFIG,
                             "the configuration is larger than %d bytes: %s", (int)YAML_MAX_BYTES, path);
        ssize_t n = read(fd, at, READ_BYTES);
        if (n < 0 && errno != EINTR)
            return fault_set(fault, ERR_IO, "cannot read the configuration (%s): %s", strerror(errno), path);
        if (n == 0)
            return ERR_OK;
        if (n > 0)
            buf_commit(text, (size_t)n);
    }
}

/* Checks and reads the same open file; a FIFO does not make us wait. */
static enum err read_file(const char *path, struct buf *text, struct fault *fault)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fault_set(fault, errno == ENOENT ? ERR_CONFIG : ERR_IO, "cannot open the configuration (%s): %s",
                         strerror(errno), path);
    enum err e = check_file(fd, path, fault);
    if (e == ERR_OK)
        e = read_all(fd, path, text, fault);
    close(fd);
    return e;
}

/* One key of a mapping. */
struct key {
    const char *name;
    enum err (*take)(const struct yaml *doc, const struct json *value, struct config *c, struct fault *fault);
};

static const struct key *find(const struct key *keys, const char *name, size_t len)
{
    for (; keys->name != NULL; keys++)
        if (strlen(keys->name) == len && memcmp(keys->name, name, len) == 0)
            return keys;
    return NULL;
}

/* Gives each member to its key; one that has no key is an error. */
static enum err take_mapping(const struct yaml *doc, const struct json *v, const struct key *keys, struct config *c,
                             struct fault *fault)
{
    if (!json_is(v, JSON_OBJECT)) {
        yaml_say(doc, v, fault, "this has to be a mapping (key: value)");
        return ERR_CONFIG;
    }
    for (size_t i = 0; i < json_count(v); i++) {
        size_t len = 0;
        const char *name = json_key(v, i, &len);
        const struct key *key = find(keys, name, len);
        if (key == NULL) {
            yaml_say(doc, json_at(v, i), fault, "unknown key \"%.*s\"", len > 64 ? 64 : (int)len, name);
            return ERR_CONFIG;
        }
        enum err e = key->take(doc, json_at(v, i), c, fault);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static enum err take_path(const struct yaml *doc, const struct json *value, char out[static CONFIG_PATH_BYTES],
                          struct fault *fault)
{
    const char *path = json_cstr(value);
    if (path == NULL || path[0] != '/') {
        yaml_say(doc, value, fault, "this has to be an absolute path");
        return path == NULL ? ERR_CONFIG : ERR_PATH;
    }
    if (strlen(path) >= CONFIG_PATH_BYTES) {
        yaml_say(doc, value, fault, "a path has at most %d bytes", (int)CONFIG_PATH_BYTES - 1);
        return ERR_PATH;
    }
    return config_path_join(path, "", out, fault);
}

static enum err take_socket(const struct yaml *doc, const struct json *value, char out[static CONFIG_PATH_BYTES],
                            struct fault *fault)
{
    enum err e = take_path(doc, value, out, fault);
    if (e == ERR_OK && strlen(out) > PEER_MAX_PATH) {
        yaml_say(doc, value, fault, "a socket's path has at most %d bytes, and this one %zu; choose a shorter one",
                 (int)PEER_MAX_PATH, strlen(out));
        return ERR_PATH;
    }
    return e;
}

static enum err take_data(const struct yaml *doc, const struct json *value, struct config *c, struct fault *fault)
{
    return take_path(doc, value, c->data_dir, fault);
}

static bool is_id(const char *text)
{
    size_t len = text == NULL ? 0 : strlen(text);
    return len > 0 && len < CONFIG_NAME_BYTES &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-") == len;
}

static enum err take_tenant(const struct yaml *doc, const struct json *value, struct config *c, struct fault *fault)
{
    const char *tenant = json_cstr(value);
    if (!is_id(tenant)) {
        yaml_say(doc, value, fault, "a tenant has 1 to %d letters, digits or . _ : -", (int)CONFIG_NAME_BYTES - 1);
        return ERR_CONFIG;
    }
    memcpy(c->tenant, tenant, strlen(tenant) + 1);
    return ERR_OK;
}

static enum err take_policy(const struct yaml *doc, const struct json *value, struct config *c, struct fault *fault)
{
    (void)c;
    if (json_equal_cstr(value, "builtin:base"))
        return ERR_OK;
    yaml_say(doc, value, fault, "unknown policy; there is \"builtin:base\"");
    return ERR_CONFIG;
}

static enum err take_agent(const struct yaml *doc, const struct json *value, struct config *c, struct fault *fault)
{
    return take_socket(doc, value, c->agent_socket, fault);
}

static enum err take_control(const struct yaml *doc, const struct json *value, struct config *c, struct fault *fault)
{
    return take_socket(doc, value, c->control_socket, fault);
}

/* A group's name or number. (gid_t)-1 means "no group" to us and to the kernel. */
static enum err take_group(const struct yaml *doc, const struct json *value, struct config *c, struct fault *fault)
{
    int64_t number = -1;
    const char *name = json_cstr(value);
    if (name != NULL) {
        const struct group *group = getgrnam(name);
        number = group == NULL ? -1 : (int64_t)group->gr_gid;
    } else if (!json_int(value, &number)) {
        number = -1;
    }
    if (number < 0 || number >= (int64_t)(gid_t)-1) {
        yaml_say(doc, value, fault, "there is no such group; make it (groupadd), or leave the key out");
        return ERR_CONFIG;
    }
    c->agent_group = (gid_t)number;
    return ERR_OK;
}

static enum err take_sockets(const struct yaml *doc, const struct json *value, struct config *c, struct fault *fault)
{
    static const struct key KEYS[] = {
        {"agent", take_agent}, {"control", take_control}, {"agent_group", take_group}, {NULL, NULL}};
    return take_mapping(doc, value, KEYS, c, fault);
}

static enum err take_all(const struct yaml *doc, struct config *c, struct fault *fault)
{
    static const struct key KEYS[] = {
        {"data", take_data}, {"tenant", take_tenant}, {"policy", take_policy}, {"sockets", take_sockets}, {NULL, NULL}};
    if (json_is(yaml_root(doc), JSON_NULL))
        return ERR_OK; /* nothing but comments: everything stays as it is */
    enum err e = take_mapping(doc, yaml_root(doc), KEYS, c, fault);
    if (e != ERR_OK)
        return e;
    if (strcmp(c->agent_socket, c->control_socket) == 0) {
        yaml_say(doc, json_get(yaml_root(doc), "sockets"), fault, "both sockets have the same path");
        return ERR_CONFIG;
    }
    return ERR_OK;
}

enum err config_load(const char *path, struct config *out, struct fault *fault)
{
    struct config c = {
        .data_dir = "/var/lib/tracekit-c",
        .agent_socket = "/run/tracekit-c/agent.sock",
        .control_socket = "/run/tracekit-c/control.sock",
        .tenant = "local",
        .agent_group = (gid_t)-1,
    };
    const struct yaml *doc = NULL;
    struct buf text;
    buf_init(&text, YAML_MAX_BYTES + READ_BYTES);
    struct arena *arena = arena_new(YAML_ARENA_BYTES);
    enum err e = arena == NULL ? fault_set(fault, ERR_NOMEM, "%s", err_text(ERR_NOMEM)) : read_file(path, &text, fault);
    if (e == ERR_OK) {
        e = yaml_read(arena, path, text.data, text.len, &doc, fault);
        if (e != ERR_OK && e != ERR_NOMEM)
            e = ERR_CONFIG; /* the fault says what is wrong with the text */
    }
    if (e == ERR_OK)
        e = take_all(doc, &c, fault);
    if (e == ERR_OK)
        *out = c;
    arena_free(arena);
    buf_wipe(&text);
    return e;
}
