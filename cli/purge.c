#include "cli/purge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/link.h"
#include "wire/client.h"

enum { RUNS_MAX = 500, ASK_MS = 5000, ENTRIES_MAX = 10000 };

/* A directory's known names; each ends with NULL. */
static const char *const TOP[] = {"ledger.db",  "ledger.db-wal", "ledger.db-shm", "ledger.db-journal",
                                  "signer.log", "signer.log.1",  "lock",          NULL};
static const char *const KEYS[] = {"record.key",  "log.key",           "args_salt.key", "seal.key", "record.key.new",
                                   "log.key.new", "args_salt.key.new", "seal.key.new",  NULL};
static const char *const RUN[] = {"agent.sock", "control.sock", NULL};

static bool is_known(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* Whether an entry is of the kind that its name promises. */
static bool is_usual(int fd, const char *const *names, const char *name)
{
    struct stat st;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT;
    bool is_folder = names == TOP && (strcmp(name, "keys") == 0 || strcmp(name, "run") == 0);
    if (is_folder)
        return S_ISDIR(st.st_mode);
    return is_known(names, name) && (S_ISREG(st.st_mode) || (names == RUN && S_ISSOCK(st.st_mode)));
}

/* Refuses a directory with a stranger in it. Takes over nothing. */
static enum err check_entries(int fd, const char *const *names, const char *where, struct fault *fault)
{
    enum err e = ERR_OK;
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    if (d == NULL) {
        if (copy >= 0)
            close(copy);
        return fault_set(fault, ERR_IO, "cannot read the directory %.120s: %s", where, strerror(errno));
    }
    int count = 0;
    for (struct dirent *entry = readdir(d); e == ERR_OK && entry != NULL; entry = readdir(d)) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (count++ == ENTRIES_MAX || !is_usual(fd, names, name))
            e = fault_set(fault, ERR_STATE, "%.120s holds %.80s, which is nothing of the signer's; move it away", where,
                          name);
    }
    closedir(d);
    return e;
}

/* Opens a directory of ours. *fd -1: it is not there. */
static enum err open_folder(int at, const char *name, int *fd, struct fault *fault)
{
    struct stat st;
    int got = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    *fd = got;
    if (got < 0)
        return errno == ENOENT ? ERR_OK
                               : fault_set(fault, ERR_PATH, "%.200s is a symbolic link, or cannot be opened: %s", name,
                                           strerror(errno));
    if (fstat(got, &st) == 0 && st.st_uid == geteuid())
        return ERR_OK;
    close(got);
    *fd = -1;
    return fault_set(fault, ERR_PATH, "%.200s belongs to another user", name);
}

struct folders {
    int top, keys, run;
};

static void close_folders(struct folders *f)
{
    int *all[] = {&f->top, &f->keys, &f->run};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (*all[i] >= 0)
            close(*all[i]);
        *all[i] = -1;
    }
}

/* Opens what is there, and refuses strangers in it. */
static enum err open_folders(const char *data, struct folders *f, struct fault *fault)
{
    *f = (struct folders){-1, -1, -1};
    enum err e = open_folder(AT_FDCWD, data, &f->top, fault);
    if (e != ERR_OK || f->top < 0)
        return e;
    e = check_entries(f->top, TOP, data, fault);
    if (e == ERR_OK)
        e = open_folder(f->top, "keys", &f->keys, fault);
    if (e == ERR_OK)
        e = open_folder(f->top, "run", &f->run, fault);
    if (e == ERR_OK && f->keys >= 0)
        e = check_entries(f->keys, KEYS, "keys", fault);
    if (e == ERR_OK && f->run >= 0)
        e = check_entries(f->run, RUN, "run", fault);
    if (e != ERR_OK)
        close_folders(f);
    return e;
}

/* What the signer knows. That it cannot be asked is no error: it may not run. */
static void ask_signer(struct cli *cli, struct purge *p)
{
    char path[PATHS_MAX];
    struct client *client = NULL;
    const struct json *hello = NULL, *runs = NULL;
    if (paths_control_socket(cli->data, NULL, path, NULL) != ERR_OK ||
        client_open(path, (uid_t)-1, &client, NULL) != ERR_OK)
        return;
    struct arena *arena = arena_new(LINK_MEMORY_BYTES);
    struct json *request = json_new_object(arena), *list = json_new_object(arena);
    if (request != NULL && list != NULL) {
        json_set_string(arena, request, "op", "hello");
        json_set_string(arena, list, "op", "runs.list");
        json_set_int(arena, list, "limit", RUNS_MAX);
        p->asked = client_call(client, request, ASK_MS, arena, &hello, NULL) == ERR_OK &&
                   json_int(json_get(hello, "records"), &p->records) &&
                   client_call(client, list, ASK_MS, arena, &runs, NULL) == ERR_OK;
    }
    runs = json_get(runs, "runs");
    p->runs = (int64_t)json_count(runs);
    p->more = json_count(runs) >= RUNS_MAX;
    for (size_t i = 0; i < json_count(runs); i++)
        p->open += !json_equal_cstr(json_get(json_at(runs, i), "state"), "final");
    arena_free(arena);
    client_close(client);
}

int purge_look(struct cli *cli, struct purge *out)
{
    struct folders f;
    struct fault fault = {""};
    memset(out, 0, sizeof *out);
    enum err e = paths_data(cli->data, out->data, &fault);
    if (e == ERR_OK)
        e = open_folders(out->data, &f, &fault);
    if (e != ERR_OK)
        return cli_fail(cli, e, fault.text, "Nothing was changed");
    out->exists = f.top >= 0;
    close_folders(&f);
    if (out->exists)
        ask_signer(cli, out);
    return CLI_DONE;
}

void purge_show(const struct cli *cli, const struct purge *p, FILE *out)
{
    const struct term t = {.out = out, .width = cli->out.width};
    if (!p->exists) {
        fputs("There is no evidence to destroy: no directory ", out);
        term_text(&t, p->data, strlen(p->data), SIZE_MAX);
        fputs(".\n", out);
        return;
    }
    fputs("It DESTROYS the evidence in ", out);
    term_text(&t, p->data, strlen(p->data), SIZE_MAX);
    fputs(", with the keys that signed it:\n", out);
    if (p->asked)
        fprintf(out, "  %s%" PRId64 " runs (%" PRId64 " not ended), %" PRId64 " records\n", p->more ? "more than " : "",
                p->runs, p->open, p->records);
    else
        fputs("  how much that is, is not known: the signer does not answer\n", out);
    fputs("Export what you need first: tracekit runs list, tracekit export RUN -o FILE, tracekit trust -o FILE\n", out);
}

static enum err remove_names(int fd, const char *const *names, const char *where, struct fault *fault)
{
    for (; *names != NULL; names++)
        if (unlinkat(fd, *names, 0) != 0 && errno != ENOENT)
            return fault_set(fault, ERR_IO, "cannot remove %s in %.200s: %s", *names, where, strerror(errno));
    return ERR_OK;
}

static enum err remove_folder(int at, const char *name, struct fault *fault)
{
    if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return ERR_OK;
    return fault_set(fault, ERR_IO, "cannot remove the directory %.200s: %s", name, strerror(errno));
}

/* Nobody may be writing there. The lock's file goes last. */
static enum err take_lock(int top, int *lock, struct fault *fault)
{
    *lock = openat(top, "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (*lock < 0)
        return errno == ENOENT ? ERR_OK : fault_set(fault, ERR_IO, "cannot open lock: %s", strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0)
        return ERR_OK;
    close(*lock);
    *lock = -1;
    return fault_set(fault, ERR_LOCKED, "a signer still uses the data directory; stop it first");
}

static enum err remove_all(const char *data, const struct folders *f, struct fault *fault)
{
    int lock = -1;
    enum err e = take_lock(f->top, &lock, fault);
    if (e == ERR_OK && f->run >= 0)
        e = remove_names(f->run, RUN, "run", fault);
    if (e == ERR_OK)
        e = remove_folder(f->top, "run", fault);
    if (e == ERR_OK && f->keys >= 0)
        e = remove_names(f->keys, KEYS, "keys", fault);
    if (e == ERR_OK)
        e = remove_folder(f->top, "keys", fault);
    if (e == ERR_OK)
        e = remove_names(f->top, TOP, data, fault);
    if (e == ERR_OK)
        e = remove_folder(AT_FDCWD, data, fault);
    if (lock >= 0)
        close(lock);
    return e;
}

int purge_run(struct cli *cli, const struct purge *p)
{
    struct folders f;
    struct fault fault = {""};
    enum err e = open_folders(p->data, &f, &fault);
    if (e == ERR_OK && f.top >= 0)
        e = remove_all(p->data, &f, &fault);
    if (e == ERR_OK && f.top >= 0)
        fputs("The evidence is destroyed.\n", cli->out.out);
    close_folders(&f);
    return e == ERR_OK ? CLI_DONE : cli_fail(cli, e, fault.text, NULL);
}
