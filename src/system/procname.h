/* What the processes are called in ps and top: the options procname, auto-procname and their kin.
 * Each process sets its own; from the main thread, before there are others. */
#ifndef CC_SYSTEM_PROCNAME_H
#define CC_SYSTEM_PROCNAME_H

#include "config/settings.h"

enum cc_role { CC_ROLE_MASTER, CC_ROLE_GENERATION, CC_ROLE_WORKER };

/* Once, from main(). Where an option asks for a name it makes room for it in what the kernel shows:
 * the strings of argv (main()'s own) and of environ are replaced by copies that live as long as the
 * process. */
void cc_procname_begin(const struct cc_name_settings *names, char **argv);
/* Takes the name of this role; number: of the worker or the generation. Where no option asks for a
 * name at all it does nothing; where none asks for this one, the program's path is shown. A name
 * that is too long for the place is cut. */
void cc_procname_set(const struct cc_name_settings *names, enum cc_role role, int number);

#endif
