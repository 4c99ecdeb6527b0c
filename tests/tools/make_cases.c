/*
 * make_cases DIR: writes every bundle of tests/tools/bundle_cases.h as DIR/NAME.tkb and its trust file as
 * DIR/NAME.trust.json, so that programs and other verifiers can be run on them.
 */
#include <stdio.h>

#include "tests/tools/bundle_cases.h"

enum { PATH_BYTES = 4096 };

static void write_table(const char *dir, const struct bundle_case *c)
{
    char bundle[PATH_BYTES], trust[PATH_BYTES];
    for (; c->name != NULL; c++) {
        snprintf(bundle, sizeof bundle, "%s/%s.tkb", dir, c->name);
        snprintf(trust, sizeof trust, "%s/%s.trust.json", dir, c->name);
        bundle_cases_write(c, bundle, trust);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_cases DIR\n");
        return 2;
    }
    write_table(argv[1], bundle_cases_good);
    write_table(argv[1], bundle_cases_broken);
    write_table(argv[1], bundle_cases_forged);
    return 0;
}
