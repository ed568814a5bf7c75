/* The start of a binary that shall take over from one that runs: `ccontainer upgrade`. */
#ifndef CC_CLI_TAKEOVER_H
#define CC_CLI_TAKEOVER_H

/* Where cc_handover_wanted(): takes what the old binary left, reads the configuration and serves,
 * in that one's place; or only finds out that it could, and says so with CC_UPGRADE_TRIED. Returns
 * the exit code, in forked children too. */
int cc_takeover_run(char **argv);

#endif
