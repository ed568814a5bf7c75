/* What the master can be told to do, by whatever way: a signal, a touched file, the master-fifo, or
 * `ccontainer reload` and its like. */
#ifndef CC_PROCESS_ORDERS_H
#define CC_PROCESS_ORDERS_H

struct cc_master;

enum cc_order {
    CC_ORDER_RELOAD,        /* a new generation beside the old one */
    CC_ORDER_RELOAD_BRUTAL, /* the same, and the old one does not get to finish */
    CC_ORDER_CHAIN,         /* new workers, one after another */
    CC_ORDER_RECYCLE,       /* new workers, all at once */
    CC_ORDER_KILL_WORKERS,  /* a new generation at once, whatever runs */
    CC_ORDER_STOP,
    CC_ORDER_STOP_NOW,
    CC_ORDER_LOG_REOPEN,
    CC_ORDER_PAUSE, /* and the second time the end of the pause */
    CC_ORDER_CHEAP,
    CC_ORDER_MORE,
    CC_ORDER_FEWER,
    CC_ORDER_SAY_STATUS,
    CC_ORDER_UPGRADE, /* a new binary takes over */
};

/* Does it, or begins it. who: for the log, "touch-reload: /some/file". */
void cc_orders_obey(struct cc_master *master, enum cc_order order, const char *who);

#endif
