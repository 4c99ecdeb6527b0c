#include "tests/tools/bundle_cases.h"

#include <stdio.h>

static void write_trust(const struct bundle_work *w, const char *path)
{
    struct buf text;
    FILE *file = fopen(path, "wb");
    buf_init(&text, 1 << 20);
    log_maker_trust(&w->log, w->pinned, w->required, w->trust, &text);
    LOG_MAKER_MUST(file != NULL && buf_err(&text) == ERR_OK);
    LOG_MAKER_MUST(fwrite(text.data, 1, text.len, file) == text.len && fclose(file) == 0);
    buf_wipe(&text);
}

void bundle_cases_write(const struct bundle_case *c, const char *bundle_path, const char *trust_path)
{
    struct bundle_work w = {.pinned = 3, .min_version = "1.0.0"};
    log_maker_init(&w.log);
    c->make(&w);
    if (w.min_version != NULL)
        bundle_maker_list(&w.bundle, w.min_version);
    bundle_maker_save(&w.bundle, bundle_path);
    if (w.patch != NULL)
        w.patch(bundle_path);
    write_trust(&w, trust_path);
    bundle_maker_wipe(&w.bundle);
    log_maker_wipe(&w.log);
}
