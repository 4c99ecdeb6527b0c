#include "signer/store_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool store_files_init(struct store_files *f, const char *path)
{
    static const char *const endings[STORE_FILES] = {"", "-wal"};
    memset(f, 0, sizeof *f);
    for (int i = 0; i < STORE_FILES; i++) {
        size_t room = strlen(path) + strlen(endings[i]) + 1;
        f->paths[i] = malloc(room);
        if (f->paths[i] == NULL)
            return false;
        snprintf(f->paths[i], room, "%s%s", path, endings[i]);
    }
    return true;
}

void store_files_wipe(struct store_files *f)
{
    for (int i = 0; i < STORE_FILES; i++)
        free(f->paths[i]);
    memset(f, 0, sizeof *f);
}

static bool is_same(const struct store_files *f, int i, const struct stat *st)
{
    bool is_cut = st->st_size < f->sizes[i] && (i == 0 || st->st_size < STORE_FILES_LOG_BYTES);
    return st->st_dev == f->devices[i] && st->st_ino == f->inodes[i] && !is_cut;
}

bool store_files_check(struct store_files *f)
{
    for (int i = 0; i < STORE_FILES; i++) {
        struct stat st;
        bool is_there = lstat(f->paths[i], &st) == 0 && S_ISREG(st.st_mode);
        if (f->seen[i] && (!is_there || !is_same(f, i, &st)))
            return false;
        if (!is_there)
            continue;
        f->seen[i] = true;
        f->devices[i] = st.st_dev;
        f->inodes[i] = st.st_ino;
        f->sizes[i] = st.st_size;
    }
    return true;
}
