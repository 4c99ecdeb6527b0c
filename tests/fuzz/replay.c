/*
 * replay.c - a fuzz target without a fuzzer: main that feeds it files.
 *
 *   build/asan/fuzz/NAME [FILE]...     without a file: all of tests/fuzz/corpus/NAME
 *
 * Prints TAP. A broken property ends the process, and so does a sanitizer's finding: the file is the one that was
 * announced last. A target without a corpus fails.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 64 << 20 };

/* 0, or -1 when the file cannot be read. */
static int replay(const char *path)
{
    int result = -1;
    uint8_t *data = NULL;
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0)
        goto out;
    long size = ftell(f);
    if (size < 0 || size > MAX_FILE_BYTES || fseek(f, 0, SEEK_SET) != 0)
        goto out;
    /* Exactly as large as the input, so that a sanitizer sees the first byte beyond. */
    data = malloc(size > 0 ? (size_t)size : 1);
    if (data == NULL || fread(data, 1, (size_t)size, f) != (size_t)size)
        goto out;
    (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    result = 0;
out:
    free(data);
    if (f != NULL)
        fclose(f);
    return result;
}

static int report(int number, const char *path)
{
    printf("# %s\n", path);
    fflush(stdout);
    int result = replay(path);
    printf("%s %d - %s\n", result == 0 ? "ok" : "not ok", number, path);
    return result;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_corpus(const char *name)
{
    char folder[512], path[1024];
    int failed = 0;
    struct dirent **entries = NULL;
    (void)snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", name);
    int count = scandir(folder, &entries, not_hidden, alphasort);
    if (count <= 0) {
        printf("1..1\nnot ok 1 - %s holds no file\n", folder);
        free(entries);
        return 1;
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        failed |= report(i + 1, path) != 0;
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        const char *slash = strrchr(argv[0], '/');
        return replay_corpus(slash != NULL ? slash + 1 : argv[0]);
    }
    int failed = 0;
    printf("1..%d\n", argc - 1);
    for (int i = 1; i < argc; i++)
        failed |= report(i, argv[i]) != 0;
    return failed;
}
