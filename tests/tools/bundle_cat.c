/* bundle_cat BUNDLE - prints the record lines of a bundle's runs, as they stand there. */
#include <stdio.h>
#include <string.h>

#include "evidence/zip.h"

static enum err print(void *ctx, const uint8_t *bytes, size_t len)
{
    return fwrite(bytes, 1, len, ctx) == len ? ERR_OK : ERR_IO;
}

int main(int argc, char **argv)
{
    struct zip *z = NULL;
    struct fault fault = {""};
    enum err e = argc == 2 ? zip_open(argv[1], &z, &fault) : ERR_USAGE;
    for (size_t i = 0; e == ERR_OK && i < zip_count(z); i++)
        if (strncmp(zip_at(z, i)->name, "runs/", 5) == 0)
            e = zip_stream(z, zip_at(z, i), print, stdout, &fault);
    zip_close(z);
    if (e != ERR_OK)
        fprintf(stderr, "bundle_cat: %s\n", fault.text[0] != '\0' ? fault.text : err_text(e));
    return e != ERR_OK;
}
