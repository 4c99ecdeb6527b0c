/* Opening and closing the service: keys, store, ledger, policy. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "signer/service_internal.h"
#include "signer/store_record.h"

/* The names of all files are on the disk before anybody is answered. (SQLite syncs its directory too, but takes no notice
 * when that fails; and a start that was cut short may have left names behind.) */
static enum err sync_names(int keys, struct fault *fault)
{
    enum err e = ERR_OK;
    int data = openat(keys, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (data < 0 || fsync(keys) != 0 || fsync(data) != 0)
        e = fault_set(fault, ERR_SYNC, "the disk did not confirm the data directory: %s", strerror(errno));
    if (data >= 0)
        close(data);
    return e;
}

static enum err check_keys(int fd, struct fault *fault)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fault_set(fault, ERR_IO, "keys: %s", strerror(errno));
    if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return fault_set(fault, ERR_CONFIG, "keys must belong to us and be closed to others: chmod 700 it");
    return ERR_OK;
}

static enum err open_keys(const char *data_dir, int *out, struct fault *fault)
{
    char path[CONFIG_PATH_BYTES + 8];
    snprintf(path, sizeof path, "%s/keys", data_dir);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return fault_set(fault, ERR_IO, "keys: cannot make the directory: %s", strerror(errno));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return fault_set(fault, ERR_IO, "keys: %s", strerror(errno));
    enum err e = check_keys(fd, fault);
    if (e == ERR_OK)
        *out = fd;
    else
        close(fd);
    return e;
}

static enum err remember_policy(struct service *s)
{
    size_t len = 0;
    const char *snapshot = policy_snapshot(s->policy, &len);
    char *text = malloc(len + 1);
    if (text == NULL)
        return ERR_NOMEM;
    memcpy(text, snapshot, len);
    text[len] = '\0';
    enum err e = store_begin(s->store);
    if (e == ERR_OK)
        e = store_record_policy_add(s->store, policy_hash(s->policy), text);
    if (e == ERR_OK)
        e = store_commit(s->store);
    free(text);
    return e;
}

static enum err open_parts(struct service *s, const struct clock *now, struct fault *fault)
{
    char path[CONFIG_PATH_BYTES + 16];
    char log_id[IDS_HEX_BYTES];
    bool fresh = false;
    int keys = -1;
    snprintf(path, sizeof path, "%s/ledger.db", s->config.data_dir);
    enum err e = open_keys(s->config.data_dir, &keys, fault);
    if (e == ERR_OK)
        e = policy_builtin(&s->policy);
    if (e == ERR_OK)
        e = store_open(path, &s->store, fault);
    if (e == ERR_OK) {
        /* A start that was cut short before its first record left keys and empty tables: it is begun again. */
        e = store_meta_get(s->store, "log_id", log_id, sizeof log_id);
        fresh = e == ERR_NOT_FOUND;
        e = fresh ? ERR_OK : e;
    }
    if (e == ERR_OK)
        e = seal_open(keys, fresh, &s->seal, fault);
    if (e == ERR_OK)
        e = ledger_open(s->store, keys, fresh, now, &s->ledger, fault);
    if (e == ERR_OK)
        e = remember_policy(s);
    if (e == ERR_OK)
        e = pause_recover(s);
    if (e == ERR_OK)
        e = sync_names(keys, fault);
    if (e == ERR_STORE && s->store != NULL)
        fault_set(fault, e, "ledger.db: %s", store_failure(s->store));
    if (keys >= 0)
        close(keys);
    return e;
}

enum err service_open(const struct config *config, const struct clock *now, struct service **out, struct fault *fault)
{
    struct service *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ERR_NOMEM;
    s->config = *config;
    s->now = *now;
    s->started_us = now->wall_us;
    waiters_init(&s->waiters);
    enum err e = open_parts(s, now, fault);
    if (e != ERR_OK) {
        s->broken = true;
        service_close(s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

static enum err last_checkpoint(struct service *s)
{
    enum err e = store_begin(s->store);
    if (e == ERR_OK)
        e = ledger_checkpoint(s->ledger, &s->now);
    return e == ERR_OK ? store_commit(s->store) : e;
}

void service_close(struct service *s)
{
    if (s == NULL)
        return;
    /* Without it the next start only reads more; so its failure is no error of the shutdown. */
    if (!s->broken && last_checkpoint(s) != ERR_OK)
        store_abandon(s->store);
    waiters_wipe(&s->waiters);
    ledger_close(s->ledger);
    seal_close(s->seal);
    policy_free(s->policy);
    store_close(s->store);
    free(s);
}
