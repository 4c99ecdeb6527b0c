#include <stdint.h>
#include <string.h>

#include "evidence/report_internal.h"
#include "evidence/visible.h"

/* Two spaces a level, keys in the order of the format's own program. */

static const char *status_word(enum report_status status)
{
    switch (status) {
    case REPORT_PASS:
        return "pass";
    case REPORT_WARN:
        return "warn";
    case REPORT_FAIL:
        return "fail";
    }
    return "fail";
}

static void json_text_put(struct buf *out, const char *text)
{
    struct buf plain;
    buf_init(&plain, REPORT_TEXT_BYTES);
    visible_strip(&plain, text, strlen(text), SIZE_MAX);
    if (out->err == ERR_OK)
        out->err = buf_err(&plain);
    buf_putc(out, '"');
    for (size_t i = 0; i < plain.len; i++) {
        if (plain.data[i] == '"' || plain.data[i] == '\\')
            buf_putc(out, '\\');
        buf_putc(out, plain.data[i]);
    }
    buf_putc(out, '"');
    buf_wipe(&plain);
}

static void json_problems(struct buf *out, const struct report_problems *p)
{
    buf_puts(out, "[");
    for (size_t i = 0; i < p->kept; i++) {
        buf_puts(out, i == 0 ? "\n        " : ",\n        ");
        json_text_put(out, p->text[i]);
    }
    if (p->count > p->kept)
        buf_printf(out, "%s\n        \"and %zu more\"", p->kept > 0 ? "," : "", p->count - p->kept);
    buf_puts(out, p->count > 0 ? "\n      ]" : "]");
}

static void json_checks(struct buf *out, const struct report *r)
{
    buf_puts(out, "  \"checks\": [");
    for (size_t i = 0; i < r->count; i++) {
        const struct report_line *line = &r->lines[i];
        buf_printf(out, "%s\n    {\n      \"check\": \"%s\",\n      \"status\": \"%s\",\n      \"detail\": ",
                   i == 0 ? "" : ",", line->check, status_word(line->status));
        json_text_put(out, line->detail == NULL ? "" : line->detail);
        buf_puts(out, ",\n      \"problems\": ");
        json_problems(out, &line->problems);
        buf_puts(out, "\n    }");
    }
    buf_puts(out, r->count > 0 ? "\n  ],\n" : "],\n");
}

/* The names of the lines with this status. */
static void json_names(struct buf *out, const struct report *r, const char *key, enum report_status status)
{
    size_t n = 0;
    buf_printf(out, "  \"%s\": [", key);
    for (size_t i = 0; i < r->count; i++) {
        if (r->lines[i].status == status)
            buf_printf(out, "%s\n    \"%s\"", n++ == 0 ? "" : ",", r->lines[i].check);
    }
    if (status == REPORT_FAIL && r->lost)
        buf_printf(out, "%s\n    \"report\"", n++ == 0 ? "" : ",");
    buf_puts(out, n > 0 ? "\n  ],\n" : "],\n");
}

enum err report_json(const struct report *r, bool strict, struct buf *out)
{
    buf_printf(out, "{\n  \"exit_code\": %d,\n", report_exit_code(r, strict));
    json_checks(out, r);
    json_names(out, r, "failures", REPORT_FAIL);
    json_names(out, r, "warnings", REPORT_WARN);
    buf_puts(out, "  \"integrity\": ");
    json_text_put(out, report_integrity_text(r));
    buf_puts(out, ",\n  \"assurance\": ");
    json_text_put(out, report_assurance_text(r));
    buf_puts(out, ",\n  \"notes\": [");
    for (size_t i = 0; i < r->note_count; i++) {
        buf_puts(out, i == 0 ? "\n    " : ",\n    ");
        json_text_put(out, r->notes[i]);
    }
    buf_puts(out, r->note_count > 0 ? "\n  ]\n}\n" : "]\n}\n");
    return buf_err(out);
}
