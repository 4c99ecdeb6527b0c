#include "cli/daemon_systemd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output_file.h"
#include "cli/tool.h"

extern char **environ;

enum { ASK_MS = 5000, CHANGE_MS = 30000, OUTPUT_BYTES = 4096, SHOWN_BYTES = 160, WORDS_MAX = 6 };

static const char *absolute(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] == '/' ? value : NULL;
}

enum err daemon_systemd_init(struct daemon_systemd *s, const char *data, struct fault *fault)
{
    const char *config = absolute("XDG_CONFIG_HOME"), *home = absolute("HOME");
    int n = -1;
    *s = (struct daemon_systemd){.file = ""};
    daemon_unit_name(data, s->unit);
    daemon_env_filter(environ, s->environment);
    if (config != NULL)
        n = snprintf(s->file, sizeof s->file, "%s/systemd/user/%s", config, s->unit);
    else if (home != NULL)
        n = snprintf(s->file, sizeof s->file, "%s/.config/systemd/user/%s", home, s->unit);
    else
        return ERR_OK; /* without a place for units there is no unit */
    if (n < 0 || n >= (int)sizeof s->file)
        return fault_set(fault, ERR_PATH, "the path of the systemd units is too long");
    return ERR_OK;
}

/* Runs `systemctl --user WORD...`; `words` ends with NULL. `out` is NUL-terminated. */
static enum err ask(const struct daemon_systemd *s, const char *const *words, int timeout_ms,
                    char out[static OUTPUT_BYTES], int *status)
{
    char *argv[WORDS_MAX + 3] = {NULL};
    char texts[WORDS_MAX + 2][PATHS_MAX];
    struct buf text;
    size_t count = 0;
    snprintf(texts[count], PATHS_MAX, "%s", s->systemctl);
    argv[count] = texts[count];
    count++;
    snprintf(texts[count], PATHS_MAX, "--user");
    argv[count] = texts[count];
    count++;
    for (size_t i = 0; words[i] != NULL && i < WORDS_MAX; i++, count++) {
        snprintf(texts[count], PATHS_MAX, "%s", words[i]);
        argv[count] = texts[count];
    }
    buf_init(&text, OUTPUT_BYTES - 1);
    enum err e = tool_run(argv, s->environment, timeout_ms, &text, status);
    if (text.len > 0)
        memcpy(out, text.data, text.len);
    out[text.len] = '\0';
    buf_wipe(&text);
    return e;
}

bool daemon_systemd_works(struct daemon_systemd *s, const char *search)
{
    static const char *const RUNS[] = {"running", "degraded", "starting", "initializing"};
    static const char *const WORDS[] = {"is-system-running", NULL};
    char out[OUTPUT_BYTES];
    int status = 0;
    if (s->file[0] == '\0' || absolute("XDG_RUNTIME_DIR") == NULL || !tool_find("systemctl", search, s->systemctl))
        return false;
    if (ask(s, WORDS, ASK_MS, out, &status) != ERR_OK)
        return false;
    out[strcspn(out, "\n")] = '\0';
    for (size_t i = 0; i < sizeof RUNS / sizeof RUNS[0]; i++)
        if (strcmp(out, RUNS[i]) == 0)
            return true;
    return false;
}

/* What lies where the unit's file belongs: nothing, ours, or another's. */
static enum err look(const struct daemon_systemd *s, bool *is_there, bool *is_ours)
{
    char mark[sizeof DAEMON_UNIT_MARK] = "";
    struct stat st;
    *is_there = *is_ours = false;
    if (s->file[0] == '\0' || lstat(s->file, &st) != 0)
        return s->file[0] == '\0' || errno == ENOENT || errno == ENOTDIR ? ERR_OK : ERR_IO;
    *is_there = true;
    if (!S_ISREG(st.st_mode))
        return ERR_OK;
    int fd = open(s->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return ERR_IO;
    ssize_t n = read(fd, mark, sizeof mark - 1);
    close(fd);
    *is_ours = n == (ssize_t)sizeof mark - 1 && strcmp(mark, DAEMON_UNIT_MARK) == 0;
    return ERR_OK;
}

bool daemon_systemd_has_unit(const struct daemon_systemd *s)
{
    bool is_there = false, is_ours = false;
    return look(s, &is_there, &is_ours) == ERR_OK && is_ours;
}

pid_t daemon_systemd_pid(const struct daemon_systemd *s)
{
    const char *const words[] = {"show", "--property=MainPID", "--value", s->unit, NULL};
    char out[OUTPUT_BYTES], *end = NULL;
    int status = 0;
    if (ask(s, words, ASK_MS, out, &status) != ERR_OK || status != 0)
        return 0;
    long pid = strtol(out, &end, 10);
    return end != out && (*end == '\n' || *end == '\0') && pid > 0 ? (pid_t)pid : 0;
}

/* mkdir -p for the directory that a file lies in. */
static enum err make_parent(const char *file, struct fault *fault)
{
    char part[PATHS_MAX];
    snprintf(part, sizeof part, "%s", file);
    for (char *c = part + 1; *c != '\0'; c++) {
        if (*c != '/')
            continue;
        *c = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return fault_set(fault, ERR_IO, "cannot make the directory %s: %s", part, strerror(errno));
        *c = '/';
    }
    return ERR_OK;
}

static enum err write_unit(const struct daemon_systemd *s, const struct daemon_unit *unit, struct fault *fault)
{
    struct output_file *file = NULL;
    bool is_there = false, is_ours = false;
    struct buf text;
    if (look(s, &is_there, &is_ours) != ERR_OK || (is_there && !is_ours))
        return fault_set(fault, ERR_PATH, "%s is there and not ours; move it away, then try again", s->file);
    buf_init(&text, DAEMON_UNIT_MAX_BYTES);
    enum err e = daemon_unit_write(&text, unit, fault);
    if (e == ERR_OK)
        e = make_parent(s->file, fault);
    if (e == ERR_OK)
        e = output_file_open(s->file, true, &file, fault);
    if (e == ERR_OK && fwrite(text.data, 1, text.len, output_file_stream(file)) != text.len)
        e = fault_set(fault, ERR_IO, "cannot write %s. Is there room on the disk?", s->file);
    if (e == ERR_OK)
        e = output_file_commit(file, fault);
    output_file_close(file);
    buf_wipe(&text);
    return e;
}

/* A call that changes something; what systemctl says first goes into the fault. */
static enum err change(const struct daemon_systemd *s, const char *const *words, struct fault *fault)
{
    char out[OUTPUT_BYTES];
    int status = 0;
    enum err e = ask(s, words, CHANGE_MS, out, &status);
    if (e == ERR_TIMEOUT)
        return fault_set(fault, e, "`systemctl --user %s` does not end; see `systemctl --user status %s`", words[0],
                         s->unit);
    if (e != ERR_OK)
        return fault_set(fault, e, "cannot run %s", s->systemctl);
    if (status == 0)
        return ERR_OK;
    out[strcspn(out, "\n")] = '\0';
    return fault_set(fault, ERR_STATE, "`systemctl --user %s` fails (%.*s); see `journalctl --user -n 20 -u %s`",
                     words[0], SHOWN_BYTES, out, s->unit);
}

enum err daemon_systemd_start(const struct daemon_systemd *s, const struct daemon_unit *unit, struct fault *fault)
{
    static const char *const reload[] = {"daemon-reload", NULL};
    const char *const forgive[] = {"reset-failed", s->unit, NULL};
    const char *const enable[] = {"enable", "--now", s->unit, NULL};
    char out[OUTPUT_BYTES];
    int status = 0;
    enum err e = write_unit(s, unit, fault);
    if (e == ERR_OK)
        e = change(s, reload, fault);
    /* It fails for a unit that has not failed. */
    if (e == ERR_OK && ask(s, forgive, ASK_MS, out, &status) == ERR_NOMEM)
        e = fault_set(fault, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    return e == ERR_OK ? change(s, enable, fault) : e;
}

enum err daemon_systemd_stop(const struct daemon_systemd *s, struct fault *fault)
{
    const char *const words[] = {"disable", "--now", s->unit, NULL};
    return change(s, words, fault);
}

enum err daemon_systemd_forget(const struct daemon_systemd *s, bool reload, struct fault *fault)
{
    static const char *const words[] = {"daemon-reload", NULL};
    if (!daemon_systemd_has_unit(s))
        return ERR_OK;
    if (unlink(s->file) != 0 && errno != ENOENT)
        return fault_set(fault, ERR_IO, "cannot remove %s: %s", s->file, strerror(errno));
    return reload ? change(s, words, fault) : ERR_OK;
}
