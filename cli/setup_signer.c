#include "cli/setup_signer.h"

#include <stdio.h>

int setup_signer_start(struct cli *cli)
{
    fputs("Start the signer, if it does not run: tracekit-signer --dev\n", cli->out.out);
    return CLI_DONE;
}

int setup_signer_stop(struct cli *cli)
{
    fputs("If a signer runs, stop it.\n", cli->out.out);
    return CLI_DONE;
}
