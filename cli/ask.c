#include "cli/ask.h"

#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 64 };

bool ask_open(struct ask *a)
{
    a->in = fopen("/dev/tty", "r");
    a->out = fopen("/dev/tty", "w");
    if (a->in != NULL && a->out != NULL)
        return true;
    ask_close(a);
    /* A terminal that is not the controlling one. */
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return false;
    a->in = stdin;
    a->out = stderr;
    return true;
}

void ask_close(struct ask *a)
{
    if (a->in != NULL && a->in != stdin)
        fclose(a->in);
    if (a->out != NULL && a->out != stderr)
        fclose(a->out);
    a->in = a->out = NULL;
}

/* A line that does not fit is no answer: the rest of it is taken away. */
static void read_answer(const struct ask *a, const char *question, char line[static LINE_BYTES])
{
    fprintf(a->out, "%s ", question);
    fflush(a->out);
    if (fgets(line, LINE_BYTES, a->in) == NULL) {
        line[0] = '\0';
        fputc('\n', a->out);
        return;
    }
    size_t len = strcspn(line, "\n");
    if (line[len] == '\n') {
        line[len] = '\0';
        return;
    }
    line[0] = '\0';
    for (int c = getc(a->in); c != EOF && c != '\n';)
        c = getc(a->in);
}

bool ask_yes(const struct ask *a, const char *question)
{
    char line[LINE_BYTES];
    read_answer(a, question, line);
    return strcmp(line, "y") == 0 || strcmp(line, "Y") == 0 || strcmp(line, "yes") == 0;
}

bool ask_word(const struct ask *a, const char *question, const char *word)
{
    char line[LINE_BYTES];
    read_answer(a, question, line);
    return strcmp(line, word) == 0;
}
