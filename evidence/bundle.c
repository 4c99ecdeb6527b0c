#include "evidence/bundle.h"

#include <stdio.h>
#include <string.h>

#include "evidence/digest.h"

enum err bundle_run_name(const char *tenant, const char *run_id, char out[static BUNDLE_RUN_NAME_BYTES])
{
    uint8_t hash[DIGEST_BYTES];
    char hex[DIGEST_HEX_BYTES];
    struct digest_state s;

    digest_init(&s);
    digest_update(&s, tenant, strlen(tenant));
    digest_update(&s, "/", 1);
    digest_update(&s, run_id, strlen(run_id));
    digest_final(&s, hash);
    digest_hex(hash, sizeof hash, hex);
    snprintf(out, BUNDLE_RUN_NAME_BYTES, "runs/%.32s.jsonl", hex);
    return ERR_OK;
}
