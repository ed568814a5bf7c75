/* Signals as processes of ours start with them. */
#ifndef CC_PROCESS_SIGNALS_H
#define CC_PROCESS_SIGNALS_H

/* Nothing blocked; SIGPIPE ignored; SIGINT, SIGQUIT and SIGHUP do nothing: a terminal sends them to
 * the whole process group, and only the master acts on them. (A handler that does nothing, not
 * SIG_IGN: commands that the app runs get the defaults back.) Everything else as the kernel has it.
 */
void cc_signals_default(void);
/* The start: SIGPIPE ignored and the rest default, whatever our parent left. */
void cc_signals_reset(void);
/* Nothing but SIGINT, SIGTERM, SIGQUIT and SIGHUP blocked; they wait until they are
 * released. */
void cc_signals_hold(void);
/* Nothing blocked. */
void cc_signals_release(void);

#endif
