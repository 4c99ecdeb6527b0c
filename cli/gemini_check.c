#include "cli/gemini_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/program.h"
#include "harness/dotenv.h"
#include "harness/hook_line.h"
#include "harness/voids_settings.h"
#include "wire/peer.h"

extern char **environ;

enum { CONNECT_MS = 3000, NAME_BYTES = 256 };

static struct fault *next_fault(struct gemini_check *c)
{
    if (c->fault_count < GEMINI_CHECK_FAULTS)
        c->fault_count++;
    struct fault *fault = &c->faults[c->fault_count - 1];
    fault->text[0] = '\0';
    return fault;
}

/* --- the environment ------------------------------------------------------------------------------------------- */

static void check_environment(struct gemini_check *c)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        char name[NAME_BYTES];
        size_t len = strcspn(*entry, "=");
        if ((*entry)[len] != '=' || len >= sizeof name)
            continue;
        memcpy(name, *entry, len);
        name[len] = '\0';
        voids_variable(&c->voids, name, *entry + len + 1);
    }
}

static void check_program(struct gemini_check *c, const char *name, char path[static PATHS_MAX])
{
    char what[VOIDS_WHAT_BYTES];
    snprintf(what, sizeof what, "PATH (%.40s)", name);
    switch (program_find(getenv("PATH"), name, path)) {
    case PROGRAM_FOUND:
        return;
    case PROGRAM_MISSING:
        fault_set(next_fault(c), ERR_NOT_FOUND, "there is no %s in the directories of PATH; install it, or set PATH",
                  name);
        return;
    case PROGRAM_RELATIVE:
        voids_add(&c->voids, what, "names a directory that is not absolute: what runs depends on the folder",
                  "take entries that do not begin with a slash out of PATH");
        return;
    case PROGRAM_OPEN:
        voids_add(&c->voids, what, "names a directory in which others can put programs",
                  "take the directory out of PATH, or its write permission from others");
        return;
    }
}

/* --- the .env file --------------------------------------------------------------------------------------------- */

struct env_value {
    struct voids *voids;
    const char *name;
};

static void judge_env_value(void *context, const char *value)
{
    const struct env_value *e = context;
    voids_variable(e->voids, e->name, value);
}

static void check_env_file(struct gemini_check *c)
{
    static const char *const names[] = {"GEMINI_SANDBOX",          "SANDBOX",
                                        "GEMINI_RESTRICTED_MODE",  "GEMINI_CLI_TRUST_WORKSPACE",
                                        "LD_TRACE_LOADED_OBJECTS", "LD_TRACE_PRELINKING"};
    const struct settings_file *file = &c->files.env;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct voids found = {.count = 0};
        struct env_value value = {&found, names[i]};
        char what[VOIDS_WHAT_BYTES];
        if (!gemini_files_env_counts(&c->files, names[i]))
            continue;
        dotenv_values(file->text, file->len, names[i], judge_env_value, &value);
        if (found.count == 0)
            continue;
        snprintf(what, sizeof what, "%.40s (.env)", names[i]);
        voids_add(&c->voids, what, found.list[0].why, "take it out of the file");
    }
}

/* --- settings and signer --------------------------------------------------------------------------------------- */

/* Whether tools.sandbox has no say. What a .env file says about it is not believed. */
static bool sandbox_is_overridden(const struct voids_flags *flags)
{
    const char *value = getenv("GEMINI_SANDBOX");
    return flags->no_sandbox || (value != NULL && (strcmp(value, "false") == 0 || strcmp(value, "0") == 0));
}

static void check_trust(struct gemini_check *c, bool skipped)
{
    if (c->files.unsure)
        voids_add(&c->voids, "security.folderTrust.enabled", "is a text, which Gemini may take either way",
                  "make it true or false");
    if (!c->files.trusted && !skipped)
        voids_add(&c->voids, "folder", "is not trusted by Gemini, which leaves the hooks of all settings out",
                  "start gemini here once by itself and answer its question, or add --skip-trust");
}

static void check_signer(struct gemini_check *c, const char *text)
{
    struct hook_line line;
    struct peer peer;
    if (!hook_line_read(text, &line))
        return;
    if (access(line.program, X_OK) != 0)
        fault_set(next_fault(c), ERR_NOT_FOUND,
                  "there is no program %.200s, which the settings name: no call would run", line.program);
    int fd = peer_connect(line.socket, peer_now_ms() + CONNECT_MS);
    if (fd < 0) {
        c->no_signer = true;
        fault_set(next_fault(c), ERR_CONNECT,
                  "no signer answers on %.108s, which the settings name: no call would run; start it with "
                  "`tracekit-signer --dev`",
                  line.socket);
        return;
    }
    if (peer_get(fd, &peer) != 0 || peer.uid != (uid_t)line.signer_uid)
        fault_set(next_fault(c), ERR_PEER,
                  "who listens on %.108s is not the user that the settings name (%ju): no call would run", line.socket,
                  (uintmax_t)line.signer_uid);
    close(fd);
}

/* What depends on the files. The first that cannot be read ends it: nothing is known without it. */
static enum err check_files(struct gemini_check *c, const struct voids_flags *flags, struct fault *fault)
{
    const char *line = NULL;
    enum err e = gemini_files_open(&c->files, fault);
    if (e != ERR_OK)
        return e;
    check_trust(c, flags->skip_trust);
    e = voids_settings(&c->voids, c->files.arena, c->files.merged, !sandbox_is_overridden(flags), &line);
    if (e != ERR_OK)
        return fault_set(fault, e, "the settings cannot be judged: %s", err_text(e));
    if (line != NULL)
        check_signer(c, line);
    e = gemini_files_env(&c->files, c->files.trusted || flags->skip_trust, fault);
    if (e == ERR_OK)
        check_env_file(c);
    return e;
}

void gemini_check(struct gemini_check *out, size_t count, const char *const *arguments)
{
    struct voids_flags flags = {.skip_trust = false};
    struct fault fault = {""};
    char shell[PATHS_MAX];
    voids_arguments(&out->voids, count, arguments);
    voids_flags(count, arguments, &flags);
    check_environment(out);
    check_program(out, "bash", shell);
    check_program(out, "gemini", out->program);
    enum err e = check_files(out, &flags, &fault);
    if (e != ERR_OK)
        fault_set(next_fault(out), e, "%s", fault.text[0] != '\0' ? fault.text : err_text(e));
}

void gemini_check_close(struct gemini_check *c)
{
    gemini_files_close(&c->files);
}

bool gemini_check_holds(const struct gemini_check *c)
{
    return c->voids.count == 0 && c->fault_count == 0;
}
