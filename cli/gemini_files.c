#include "cli/gemini_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/gemini_read.h"

enum { MEMORY_BYTES = 256 << 20 };

static const char SYSTEM_SETTINGS[] = "/etc/gemini-cli/settings.json";

/* What Gemini takes for set: not empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *look_up(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

static enum err find_places(struct gemini_files *f, struct fault *fault)
{
    const char *home = variable("GEMINI_CLI_HOME");
    if (home == NULL)
        home = variable("HOME");
    if (home == NULL)
        return fault_set(fault, ERR_PATH, "HOME is not set: it cannot be told which settings Gemini reads; set it");
    if (getcwd(f->folder, sizeof f->folder) == NULL)
        return fault_set(fault, ERR_PATH, "the present directory has no usable path; go to another one");
    if (folders_normalize(f->folder, home, f->home) != ERR_OK)
        return fault_set(fault, ERR_PATH, "HOME or GEMINI_CLI_HOME is longer than %d bytes; use a shorter one",
                         FOLDERS_PATH_BYTES - 1);
    return ERR_OK;
}

static bool is_home(const struct gemini_files *f)
{
    char folder[FOLDERS_PATH_BYTES], home[FOLDERS_PATH_BYTES];
    return gemini_read_resolve(NULL, f->folder, folder) && gemini_read_resolve(NULL, f->home, home) &&
           strcmp(folder, home) == 0;
}

static enum err put_path(struct gemini_files *f, struct settings_file *file, const char *folder, const char *name,
                         struct fault *fault)
{
    char path[FOLDERS_PATH_BYTES], whole[FOLDERS_PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s%s%s", folder, name[0] != '\0' ? "/" : "", name);
    if (n < 0 || (size_t)n >= sizeof path || folders_normalize(f->folder, path, whole) != ERR_OK)
        return fault_set(fault, ERR_PATH, "a path below %.100s... is too long", folder);
    file->path = arena_copy(f->arena, whole, strlen(whole));
    return file->path != NULL ? ERR_OK : ERR_NOMEM;
}

static enum err put_system_paths(struct gemini_files *f, struct fault *fault)
{
    const char *settings = variable("GEMINI_CLI_SYSTEM_SETTINGS_PATH"),
               *defaults = variable("GEMINI_CLI_SYSTEM_DEFAULTS_PATH");
    struct settings_file *system = &f->settings[SETTINGS_SYSTEM], *before = &f->settings[SETTINGS_SYSTEM_DEFAULTS];
    enum err e = put_path(f, system, settings != NULL ? settings : SYSTEM_SETTINGS, "", fault);
    if (e != ERR_OK || defaults != NULL)
        return e != ERR_OK ? e : put_path(f, before, defaults, "", fault);
    char folder[FOLDERS_PATH_BYTES];
    size_t len = strlen(system->path);
    while (len > 0 && system->path[len - 1] != '/')
        len--;
    memcpy(folder, system->path, len);
    folder[len] = '\0';
    return put_path(f, before, folder, "system-defaults.json", fault);
}

/* Gemini passes over system files that others than root could have written. */
static enum err read_settings(struct gemini_files *f, struct fault *fault)
{
    static const enum settings_scope order[] = {SETTINGS_SYSTEM, SETTINGS_SYSTEM_DEFAULTS, SETTINGS_USER,
                                                SETTINGS_WORKSPACE};
    enum err e = put_system_paths(f, fault);
    if (e == ERR_OK)
        e = put_path(f, &f->settings[SETTINGS_USER], f->home, ".gemini/settings.json", fault);
    if (e == ERR_OK)
        e = put_path(f, &f->settings[SETTINGS_WORKSPACE], f->folder, ".gemini/settings.json", fault);
    for (size_t i = 0; i < sizeof order / sizeof *order && e == ERR_OK; i++) {
        struct settings_file *file = &f->settings[order[i]];
        bool system = order[i] == SETTINGS_SYSTEM || order[i] == SETTINGS_SYSTEM_DEFAULTS;
        if ((system && !gemini_read_is_secure(file->path)) || (order[i] == SETTINGS_WORKSPACE && is_home(f)))
            continue;
        e = gemini_read(f->arena, file, fault);
    }
    return e;
}

static enum err parse_settings(struct gemini_files *f, struct settings_node *out[static SETTINGS_SCOPES],
                               struct fault *fault)
{
    const struct settings_environment env = {look_up, NULL};
    enum err e = ERR_OK;
    for (size_t s = SETTINGS_SYSTEM_DEFAULTS; s < SETTINGS_SCOPES && e == ERR_OK; s++)
        e = effective_read(f->arena, &f->settings[s], (enum settings_scope)s, &env, &out[s], fault);
    return e;
}

/* The rules of trustedFolders.json. */
static enum err ask_folders(struct gemini_files *f, struct fault *fault)
{
    const struct folders_place place = {f->folder, gemini_read_resolve, NULL};
    const char *named = variable("GEMINI_CLI_TRUSTED_FOLDERS_PATH");
    enum folders_answer answer = FOLDERS_UNKNOWN;
    struct settings_file file = {NULL, NULL, 0};
    enum err e = named != NULL ? put_path(f, &file, named, "", fault)
                               : put_path(f, &file, f->home, ".gemini/trustedFolders.json", fault);
    if (e == ERR_OK)
        e = gemini_read(f->arena, &file, fault);
    if (e == ERR_OK)
        e = folders_judge(f->arena, &file, &place, &answer, fault);
    f->trusted = e == ERR_OK && answer == FOLDERS_YES;
    return e;
}

/* The workspace has no say in it. */
static enum err judge_trust(struct gemini_files *f, struct settings_node *const files[static SETTINGS_SCOPES],
                            struct fault *fault)
{
    const char *restricted = getenv("GEMINI_RESTRICTED_MODE"), *said = getenv("GEMINI_CLI_TRUST_WORKSPACE");
    struct settings_node *others[SETTINGS_SCOPES], *merged = NULL;
    if ((restricted != NULL && strcmp(restricted, "true") == 0) || (said != NULL && strcmp(said, "false") == 0))
        return ERR_OK;
    memcpy(others, files, sizeof others);
    others[SETTINGS_WORKSPACE] = NULL;
    enum err e = effective_merge(f->arena, others, &merged);
    if (e != ERR_OK)
        return e;
    const struct settings_node *enabled = settings_node_at(merged, "security.folderTrust.enabled");
    f->unsure = settings_node_text(enabled) != NULL;
    f->trusted = (said != NULL && strcmp(said, "true") == 0) ||
                 (enabled != NULL && !settings_node_is(enabled, JSON_NULL) && !settings_node_truthy(enabled));
    return f->trusted ? ERR_OK : ask_folders(f, fault);
}

enum err gemini_files_open(struct gemini_files *out, struct fault *fault)
{
    struct settings_node *files[SETTINGS_SCOPES] = {NULL}, *merged = NULL;
    out->arena = arena_new(MEMORY_BYTES);
    enum err e = out->arena != NULL ? find_places(out, fault) : ERR_NOMEM;
    if (e == ERR_OK)
        e = read_settings(out, fault);
    if (e == ERR_OK)
        e = parse_settings(out, files, fault);
    if (e == ERR_OK)
        e = judge_trust(out, files, fault);
    /* In doubt what a workspace can do counts. */
    if (!out->trusted && !out->unsure)
        files[SETTINGS_WORKSPACE] = NULL;
    if (e == ERR_OK)
        e = effective_merge(out->arena, files, &merged);
    out->merged = merged;
    if (e != ERR_OK && fault->text[0] == '\0')
        fault_set(fault, e, "the settings cannot be read: %s", err_text(e));
    return e;
}

void gemini_files_close(struct gemini_files *f)
{
    arena_free(f->arena);
    f->arena = NULL;
}

/* --- .env ------------------------------------------------------------------------------------------------------ */

/* Takes `folder`/`name` when it is there. */
static enum err try_env(struct gemini_files *f, const char *folder, const char *name, bool *found, struct fault *fault)
{
    struct settings_file file = {NULL, NULL, 0};
    enum err e = put_path(f, &file, folder, name, fault);
    if (e != ERR_OK)
        return e;
    *found = gemini_read_is_there(file.path);
    e = *found ? gemini_read(f->arena, &file, fault) : ERR_OK;
    if (e == ERR_OK && *found)
        f->env = file;
    return e;
}

static enum err try_folder(struct gemini_files *f, const char *folder, bool trusted, bool *found, struct fault *fault)
{
    bool home = strcmp(folder, f->home) == 0;
    bool plain = home || !settings_node_truthy(settings_node_at(f->merged, "advanced.ignoreLocalEnv"));
    enum err e = trusted ? try_env(f, folder, ".gemini/.env", found, fault) : ERR_OK;
    if (e == ERR_OK && !*found && plain)
        e = try_env(f, folder, ".env", found, fault);
    return e;
}

enum err gemini_files_env(struct gemini_files *f, bool trusted, struct fault *fault)
{
    char folder[FOLDERS_PATH_BYTES];
    bool found = false;
    size_t len = strlen(f->folder);
    memcpy(folder, f->folder, len + 1);
    enum err e = try_folder(f, folder, trusted, &found, fault);
    while (e == ERR_OK && !found && len > 1) {
        while (len > 0 && folder[len - 1] != '/')
            len--;
        len -= len > 1 ? 1 : 0;
        folder[len] = '\0';
        e = try_folder(f, folder, trusted, &found, fault);
    }
    return e != ERR_OK || found ? e : try_folder(f, f->home, trusted, &found, fault);
}

bool gemini_files_env_counts(const struct gemini_files *f, const char *name)
{
    const struct settings_node *excluded = settings_node_at(f->merged, "advanced.excludedEnvVars");
    if (f->env.text == NULL || getenv(name) != NULL)
        return false;
    /* The settings speak of files of the project only, which are those without .gemini in their path. */
    if (strstr(f->env.path, ".gemini") != NULL || excluded == NULL || excluded->kind != SETTINGS_LIST)
        return true;
    for (const struct settings_node *n = excluded->first; n != NULL; n = n->next)
        if (settings_node_text(n) != NULL && strcmp(settings_node_text(n), name) == 0)
            return false;
    return true;
}
