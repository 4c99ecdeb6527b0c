#include "verify/command.h"

int main(int argc, char **argv)
{
    return verify_command(argc, argv, "tracekit-verify");
}
