#include "verify/command.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/buf.h"
#include "evidence/report.h"
#include "evidence/verify.h"
#include "evidence/visible.h"

enum { EXIT_GOOD = 0, EXIT_UNUSABLE = 2, SHOWN_CHARS = 200, JSON_BYTES = 64 << 20 };

struct options {
    const char *bundle, *trust;
    bool json, strict, no_color, help, version;
};

static const char help_text[] =
    "usage: %s BUNDLE --trust FILE [--json] [--strict] [--no-color]\n"
    "\n"
    "Checks the evidence of one run: who signed it, that nothing is missing, changed or moved, and what it says about\n"
    "the way it was captured. Works offline. What is trusted comes from FILE alone, never from the bundle.\n"
    "\n"
    "  --trust FILE   the keys you trust: a JSON file with logs, witnesses, algs and witnesses_required\n"
    "  --json         print the report as JSON\n"
    "  --strict       exit 3 when there is any warning\n"
    "  --no-color     no colours, also on a terminal (as with NO_COLOR set)\n"
    "  --help         print this\n"
    "  --version      print the version\n"
    "\n"
    "Options may stand anywhere; after -- everything is a file name.\n"
    "\n"
    "Exit codes:\n"
    "  0  nothing failed\n"
    "  1  something failed: do not rely on the bundle\n"
    "  2  nothing could be verified: the files or the command line are not usable, or the bundle needs another "
    "verifier\n"
    "  3  only with --strict: nothing failed, and there are warnings\n"
    "\n"
    "Example:\n"
    "  %s run.tkb --trust trust.json && echo verified\n";

/* --- errors --- */

/* "PROGRAM: what 'word'. next" on standard error, the word made visible. */
static int fail(const char *program, const char *what, const char *word, const char *next)
{
    struct buf line;
    buf_init(&line, 16 * 1024);
    buf_printf(&line, "%s: %s", program, what);
    if (word != NULL) {
        buf_puts(&line, " '");
        visible_write(&line, word, strlen(word), SHOWN_CHARS);
        buf_puts(&line, "'");
    }
    buf_printf(&line, ". %s\n", next);
    if (buf_err(&line) == ERR_OK)
        fwrite(line.data, 1, line.len, stderr);
    buf_wipe(&line);
    return EXIT_UNUSABLE;
}

static int misuse(const char *program, const char *what, const char *word)
{
    return fail(program, what, word, "See --help.");
}

/* --- the command line --- */

static int take_file(const char *program, struct options *o, const char *word)
{
    if (o->bundle != NULL)
        return misuse(program, "one bundle at a time, and this is a second one:", word);
    o->bundle = word;
    return EXIT_GOOD;
}

static int take_trust(const char *program, struct options *o, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return misuse(program, "--trust needs a file name", NULL);
    if (o->trust != NULL)
        return misuse(program, "--trust was given twice, the second time with", value);
    o->trust = value;
    return EXIT_GOOD;
}

/* Sets the flag of that name; false when there is none. */
static bool take_flag(struct options *o, const char *word)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--json", &o->json}, {"--strict", &o->strict},   {"--no-color", &o->no_color},
                 {"--help", &o->help}, {"--version", &o->version}, {"-h", &o->help}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(word, flags[i].name) == 0) {
            *flags[i].flag = true;
            return true;
        }
    }
    return false;
}

static int read_options(int argc, char **argv, const char *program, struct options *o)
{
    int code = EXIT_GOOD;
    bool only_files = false;
    for (int i = 1; i < argc && code == EXIT_GOOD; i++) {
        const char *word = argv[i];
        if (only_files || word[0] != '-' || word[1] == '\0')
            code = take_file(program, o, word);
        else if (strcmp(word, "--") == 0)
            only_files = true;
        else if (strcmp(word, "--trust") == 0)
            code = take_trust(program, o, ++i < argc ? argv[i] : NULL);
        else if (strncmp(word, "--trust=", strlen("--trust=")) == 0)
            code = take_trust(program, o, word + strlen("--trust="));
        else if (!take_flag(o, word))
            code = misuse(program, "there is no option", word);
    }
    return code;
}

/* --- progress: a line on a terminal when it takes over a second --- */

static void on_alarm(int signal)
{
    static const char text[] = "checking ...\n";
    int saved = errno;
    (void)signal;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
        /* nothing to be done about it */
    }
    errno = saved;
}

static enum err verify_with_progress(const struct options *o, struct report *report)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART}, before;
    bool shows =
        isatty(STDERR_FILENO) == 1 && sigemptyset(&action.sa_mask) == 0 && sigaction(SIGALRM, &action, &before) == 0;
    if (shows)
        alarm(1);
    enum err e = verify_bundle(o->bundle, o->trust, report);
    if (shows) {
        alarm(0);
        sigaction(SIGALRM, &before, NULL);
    }
    return e;
}

/* --- output --- */

/* The one place that reads the environment. */
static bool wants_color(const struct options *o)
{
    const char *no_color = getenv("NO_COLOR");
    return !o->no_color && (no_color == NULL || no_color[0] == '\0') && isatty(STDOUT_FILENO) == 1;
}

static enum err print_json(const struct options *o, const struct report *report)
{
    struct buf out;
    buf_init(&out, JSON_BYTES);
    enum err e = report_json(report, o->strict, &out);
    if (e == ERR_OK)
        fwrite(out.data, 1, out.len, stdout);
    buf_wipe(&out);
    return e;
}

static int print_report(const char *program, const struct options *o, const struct report *report)
{
    enum err e = ERR_OK;
    if (o->json)
        e = print_json(o, report);
    else
        report_print(report, stdout, wants_color(o));
    if (e != ERR_OK)
        return fail(program, err_text(e), NULL, "Nothing was printed.");
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(program, "the report could not be written to standard output", NULL, "It is incomplete.");
    return report_exit_code(report, o->strict);
}

static int run(const char *program, const struct options *o)
{
    struct report *report = report_new();
    enum err e = report == NULL ? ERR_NOMEM : verify_with_progress(o, report);
    int code = EXIT_UNUSABLE;
    if (e == ERR_OK)
        code = print_report(program, o, report);
    else
        fail(program, err_text(e), NULL, "Nothing was verified.");
    report_free(report);
    return code;
}

int verify_command(int argc, char **argv, const char *program)
{
    struct options o = {0};
    int code = read_options(argc, argv, program, &o);
    if (code != EXIT_GOOD)
        return code;
    if (o.help)
        printf(help_text, program, program);
    else if (o.version)
        printf("%s %s\n", program, TRACEKIT_VERSION);
    else if (o.bundle == NULL)
        return misuse(program, "no bundle was named", NULL);
    else if (o.trust == NULL)
        return misuse(program, "--trust FILE is missing: a bundle proves nothing by itself", NULL);
    else
        return run(program, &o);
    return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_UNUSABLE;
}
