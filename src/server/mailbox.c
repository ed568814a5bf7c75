/* Connections on their way back from app threads to the loop: a stack that any thread pushes to and
 * the loop takes whole. See server_state.h. */
#include "server/server_state.h"

void cc_mailbox_push(struct cc_server *server, struct cc_conn *conn, bool wake)
{
    struct cc_conn *head = atomic_load_explicit(&server->mailbox, memory_order_relaxed);

    do
        conn->mail_next = head;
    while (!atomic_compare_exchange_weak_explicit(&server->mailbox, &head, conn,
                                                  memory_order_release, memory_order_relaxed));
    if (wake)
        ev_async_send(server->loop, &server->mail);
}

void cc_mailbox_take(struct cc_server *server)
{
    /* A look is cheaper than the exchange; what comes just now is there the next time. */
    if (atomic_load_explicit(&server->mailbox, memory_order_relaxed) == NULL)
        return;
    struct cc_conn *conn = atomic_exchange_explicit(&server->mailbox, NULL, memory_order_acquire);

    while (conn != NULL) {
        struct cc_conn *next = conn->mail_next;
        atomic_store_explicit(&conn->owner, CC_OWNER_LOOP, memory_order_relaxed);
        cc_conn_continue(conn);
        conn = next;
    }
}

static void on_mail(struct ev_loop *loop, ev_async *watcher, int events)
{
    struct cc_server *server = watcher->data;

    (void)loop;
    (void)events;
    cc_mailbox_take(server);
    if (cc_server_stopping(server))
        cc_server_close_idle(server);
    cc_accept_update(server);
}

void cc_mailbox_init(struct cc_server *server)
{
    atomic_init(&server->mailbox, NULL);
    ev_async_init(&server->mail, on_mail);
    server->mail.data = server;
    ev_async_start(server->loop, &server->mail);
}
