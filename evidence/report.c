#include "evidence/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/report_internal.h"

enum { FIRST_LINES = 32 };

/* NULL when out of memory. */
static char *format_text(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    size_t size = n < 0 ? 1 : (size_t)n < REPORT_TEXT_BYTES ? (size_t)n + 1 : REPORT_TEXT_BYTES;
    char *text = malloc(size);
    if (text != NULL && vsnprintf(text, size, format, again) < 0)
        text[0] = '\0';
    va_end(again);
    return text;
}

/* --- gathering --- */

static void add_problem(struct report_problems *p, const char *format, va_list args)
{
    char *text = p->kept < REPORT_MAX_PROBLEMS ? format_text(format, args) : NULL;
    p->count++;
    if (text != NULL)
        p->text[p->kept++] = text;
}

void report_problems_add(struct report_problems *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_problem(p, format, args);
    va_end(args);
}

void report_problems_wipe(struct report_problems *p)
{
    for (size_t i = 0; i < p->kept; i++)
        free(p->text[i]);
    *p = (struct report_problems){0};
}

/* --- the report --- */

struct report *report_new(void)
{
    return calloc(1, sizeof(struct report));
}

static void wipe_line(struct report_line *line)
{
    free(line->detail);
    report_problems_wipe(&line->problems);
}

void report_free(struct report *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->count; i++)
        wipe_line(&r->lines[i]);
    for (size_t i = 0; i < r->note_count; i++)
        free(r->notes[i]);
    free(r->lines);
    free(r->integrity);
    free(r->assurance);
    free(r);
}

/* Room for `more` lines behind the last one. */
static bool grow(struct report *r, size_t more)
{
    size_t need = r->count + more;
    if (need <= r->cap)
        return true;
    size_t cap = r->cap == 0 ? FIRST_LINES : r->cap;
    while (cap < need)
        cap *= 2;
    struct report_line *lines = realloc(r->lines, cap * sizeof *lines);
    if (lines == NULL) {
        r->lost = true;
        return false;
    }
    r->lines = lines;
    r->cap = cap;
    return true;
}

void report_line(struct report *r, enum report_status status, const char *check, const char *format, ...)
{
    if (!grow(r, 1))
        return;
    va_list args;
    va_start(args, format);
    char *detail = format_text(format, args);
    va_end(args);
    r->lost |= detail == NULL;
    r->lines[r->count++] = (struct report_line){.status = status, .check = check, .detail = detail};
}

void report_problem(struct report *r, const char *format, ...)
{
    if (r->count == 0)
        return;
    va_list args;
    va_start(args, format);
    add_problem(&r->lines[r->count - 1].problems, format, args);
    va_end(args);
}

void report_problem_list(struct report *r, struct report_problems *p)
{
    if (r->count > 0) {
        struct report_problems *to = &r->lines[r->count - 1].problems;
        for (size_t i = 0; i < p->kept && to->kept < REPORT_MAX_PROBLEMS; i++) {
            to->text[to->kept++] = p->text[i];
            p->text[i] = NULL;
        }
        to->count += p->count;
    }
    report_problems_wipe(p);
}

void report_note(struct report *r, const char *format, ...)
{
    if (r->note_count == REPORT_MAX_NOTES)
        return;
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    if (text == NULL)
        r->lost = true;
    else
        r->notes[r->note_count++] = text;
}

static void set_verdict(struct report *r, char **verdict, char *text)
{
    r->lost |= text == NULL;
    free(*verdict);
    *verdict = text;
}

void report_integrity(struct report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_verdict(r, &r->integrity, format_text(format, args));
    va_end(args);
}

void report_assurance(struct report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_verdict(r, &r->assurance, format_text(format, args));
    va_end(args);
}

void report_unusable(struct report *r)
{
    r->unusable = true;
}

static void move_verdict(struct report *r, char **verdict, char **from)
{
    if (*from == NULL)
        return;
    set_verdict(r, verdict, *from);
    *from = NULL;
}

void report_append(struct report *r, struct report *from)
{
    if (from->count > 0 && grow(r, from->count)) {
        memcpy(r->lines + r->count, from->lines, from->count * sizeof *from->lines);
        r->count += from->count;
        from->count = 0;
    }
    for (size_t i = 0; i < from->note_count; i++) {
        if (r->note_count < REPORT_MAX_NOTES)
            r->notes[r->note_count++] = from->notes[i];
        else
            free(from->notes[i]);
    }
    from->note_count = 0;
    move_verdict(r, &r->integrity, &from->integrity);
    move_verdict(r, &r->assurance, &from->assurance);
    r->unusable |= from->unusable;
    r->lost |= from->lost;
}

/* --- the verdict --- */

static size_t count_status(const struct report *r, enum report_status status)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        n += r->lines[i].status == status;
    return n;
}

size_t report_failures(const struct report *r)
{
    return count_status(r, REPORT_FAIL) + (r->lost ? 1 : 0);
}

size_t report_warnings(const struct report *r)
{
    return count_status(r, REPORT_WARN);
}

int report_exit_code(const struct report *r, bool strict)
{
    if (r->unusable)
        return 2;
    if (report_failures(r) > 0)
        return 1;
    if (r->integrity == NULL)
        return 2;
    return strict && report_warnings(r) > 0 ? 3 : 0;
}

const char *report_check(const struct report *r, size_t i, enum report_status *status)
{
    if (i >= r->count)
        return NULL;
    *status = r->lines[i].status;
    return r->lines[i].check;
}

const char *report_integrity_text(const struct report *r)
{
    if (!r->unusable && report_failures(r) > 0)
        return "FAILED";
    return r->integrity == NULL ? "UNUSABLE BUNDLE" : r->integrity;
}

const char *report_assurance_text(const struct report *r)
{
    return r->assurance == NULL ? "none" : r->assurance;
}
