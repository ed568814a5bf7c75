/* A doubly linked ring whose links live in the things listed (after the kernel's well-known idea).
 * The head is a link too; an empty ring points at itself. */
#ifndef CC_BASE_LIST_H
#define CC_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct cc_link {
    struct cc_link *next, *prev;
};

#define CC_CONTAINER(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

static inline void cc_link_init(struct cc_link *link)
{
    link->next = link->prev = link;
}

static inline bool cc_link_alone(const struct cc_link *link)
{
    return link->next == link;
}

/* Adds at the end of the ring that head begins. */
static inline void cc_link_add(struct cc_link *head, struct cc_link *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

/* Takes it out and leaves it alone, so that taking it out twice is harmless. */
static inline void cc_link_remove(struct cc_link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    cc_link_init(link);
}

#endif
