/* The program on one screen: read the command line and the configuration, open plugins and sockets,
 * then run. */
#include <config.h>

#include <stdio.h>

#include "process/process.h"

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("%s\n", PACKAGE_STRING);
    return CC_EXIT_OK;
}
