#include "cli/daemon_unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "evidence/digest.h"
#include "evidence/visible.h"

enum { NAME_DIGITS = 8 };

void daemon_unit_name(const char *data, char out[static DAEMON_UNIT_NAME_BYTES])
{
    uint8_t hash[DIGEST_BYTES];
    char hex[NAME_DIGITS + 1];
    if (data == NULL) {
        snprintf(out, DAEMON_UNIT_NAME_BYTES, "tracekit-signer.service");
        return;
    }
    digest_sha256(data, strlen(data), hash);
    digest_hex(hash, NAME_DIGITS / 2, hex);
    hex[NAME_DIGITS] = '\0';
    snprintf(out, DAEMON_UNIT_NAME_BYTES, "tracekit-signer-%s.service", hex);
}

/* systemd takes text only: UTF-8 without control characters. */
static bool is_text(const char *path)
{
    size_t len = strlen(path);
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        size_t n = visible_decode((const uint8_t *)path + at, len - at, &code);
        if (n == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0))
            return false;
        at += n;
    }
    return true;
}

/* One word in quotes. In a command line's arguments a dollar sign begins a variable; in its first word, and in
 * Environment=, it does not. */
static enum err put_word(struct buf *out, const char *prefix, const char *word, bool argument, struct fault *fault)
{
    if (!is_text(word))
        return fault_set(fault, ERR_PATH,
                         "a systemd unit cannot hold this path, which has control characters or is no UTF-8: %s", word);
    buf_printf(out, "\"%s", prefix);
    for (const char *c = word; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            buf_putc(out, '\\');
        else if (*c == '%' || (*c == '$' && argument))
            buf_putc(out, (uint8_t)*c);
        buf_putc(out, (uint8_t)*c);
    }
    buf_putc(out, '"');
    return ERR_OK;
}

static enum err put_variable(struct buf *out, const char *prefix, const char *value, struct fault *fault)
{
    if (value == NULL || value[0] != '/')
        return ERR_OK;
    buf_puts(out, "Environment=");
    enum err e = put_word(out, prefix, value, false, fault);
    buf_putc(out, '\n');
    return e;
}

static enum err put_command(struct buf *out, const struct daemon_unit *unit, struct fault *fault)
{
    buf_puts(out, "ExecStart=");
    enum err e = put_word(out, "", unit->signer, false, fault);
    buf_puts(out, " --dev");
    if (e == ERR_OK && unit->data != NULL) {
        buf_puts(out, " --data ");
        e = put_word(out, "", unit->data, true, fault);
    }
    buf_putc(out, '\n');
    return e;
}

enum err daemon_unit_write(struct buf *out, const struct daemon_unit *unit, struct fault *fault)
{
    buf_puts(out, DAEMON_UNIT_MARK);
    buf_puts(out, "[Unit]\n"
                  "Description=Tracekit signer, which decides over an agent's tool calls\n"
                  "Documentation=man:tracekit-signer(8)\n"
                  "\n"
                  "[Service]\n"
                  "Type=notify\n");
    enum err e = put_command(out, unit, fault);
    if (e == ERR_OK)
        e = put_variable(out, "HOME=", unit->home, fault);
    if (e == ERR_OK)
        e = put_variable(out, "XDG_DATA_HOME=", unit->xdg_data_home, fault);
    if (e == ERR_OK)
        e = put_variable(out, "XDG_RUNTIME_DIR=", unit->xdg_runtime_dir, fault);
    /* Statuses 2 and 3 are a wrong configuration and another signer: trying again does not help. No setting here makes
     * a namespace. */
    buf_puts(out, "Restart=on-failure\n"
                  "RestartSec=2\n"
                  "RestartPreventExitStatus=2 3\n"
                  "TimeoutStartSec=15\n"
                  "TimeoutStopSec=20\n"
                  "UMask=0077\n"
                  "LimitCORE=0\n"
                  "NoNewPrivileges=yes\n"
                  "RestrictAddressFamilies=AF_UNIX\n"
                  "RestrictNamespaces=yes\n"
                  "RestrictRealtime=yes\n"
                  "RestrictSUIDSGID=yes\n"
                  "LockPersonality=yes\n"
                  "MemoryDenyWriteExecute=yes\n"
                  "SystemCallArchitectures=native\n"
                  "\n"
                  "[Install]\n"
                  "WantedBy=default.target\n");
    return e != ERR_OK ? e : buf_err(out);
}
