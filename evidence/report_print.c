#include <stdint.h>
#include <string.h>

#include "evidence/report_internal.h"
#include "evidence/visible.h"

static void print_status(FILE *out, enum report_status status, bool color)
{
    static const char *const words[] = {"PASS", "WARN", "FAIL"};
    static const char *const colors[] = {"\033[32m", "\033[33m", "\033[31m"};
    if (color)
        fprintf(out, "[%s%s\033[0m]", colors[status], words[status]);
    else
        fprintf(out, "[%s]", words[status]);
}

/* The text without what is not plain, between two words of ours. */
static void print_text(FILE *out, const char *before, const char *text, const char *after)
{
    struct buf plain;
    buf_init(&plain, REPORT_TEXT_BYTES);
    visible_strip(&plain, text, strlen(text), SIZE_MAX);
    fputs(before, out);
    if (buf_err(&plain) != ERR_OK)
        fputs("(out of memory)", out);
    else if (plain.len > 0)
        fwrite(plain.data, 1, plain.len, out);
    fputs(after, out);
    buf_wipe(&plain);
}

static void print_line(FILE *out, const struct report_line *line, bool color)
{
    print_status(out, line->status, color);
    fprintf(out, " %s", line->check);
    if (line->detail != NULL && line->detail[0] != '\0')
        print_text(out, " \xe2\x80\x94 ", line->detail, "");
    fputc('\n', out);
    for (size_t i = 0; i < line->problems.kept; i++)
        print_text(out, "        ", line->problems.text[i], "\n");
    if (line->problems.count > line->problems.kept)
        fprintf(out, "        and %zu more\n", line->problems.count - line->problems.kept);
}

void report_print(const struct report *r, FILE *out, bool color)
{
    for (size_t i = 0; i < r->count; i++)
        print_line(out, &r->lines[i], color);
    if (r->lost)
        fputs("        out of memory: a part of this report is missing\n", out);
    fputc('\n', out);
    print_text(out, "Integrity: ", report_integrity_text(r), ".\n");
    print_text(out, "Assurance: ", report_assurance_text(r), ".\n");
}
