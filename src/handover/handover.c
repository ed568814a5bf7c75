/* See handover.h. */
#include "handover/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/span.h"

#define SEALS     (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define TEXT_MOST ((size_t)64 << 20)

void cc_handover_init(struct cc_handover *handover)
{
    *handover = (struct cc_handover){.control = -1, .notify = -1};
    handover->folder.fd = handover->pidfile.fd = -1;
    handover->pidfile2.fd = handover->fifo.fd = -1;
}

static void clear_arrays(struct cc_handover *handover)
{
    for (size_t i = 0; i < handover->n_passed; i++)
        free(handover->passed[i].text);
    for (size_t i = 0; i < handover->n_listeners; i++) {
        free(handover->listeners[i].address);
        free(handover->listeners[i].file);
    }
    for (size_t i = 0; i < handover->n_generations; i++)
        free(handover->generations[i].workers);
    cc_compare_free(handover->options, handover->n_options);
    free(handover->passed);
    free(handover->listeners);
    free(handover->generations);
    free(handover->clients);
}

void cc_handover_clear(struct cc_handover *handover)
{
    free(handover->from);
    free(handover->layout);
    free(handover->folder.text);
    free(handover->pidfile.text);
    free(handover->pidfile2.text);
    free(handover->fifo.text);
    clear_arrays(handover);
    cc_handover_init(handover);
}

int cc_handover_seal(const char *text)
{
    int fd = memfd_create("cc-handover", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && cc_fd_write_all(fd, text, strlen(text)) && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool cc_handover_wanted(void)
{
    return getenv(CC_HANDOVER_VARIABLE) != NULL;
}

/* Sealed, or somebody else could have put it there, or could change it. */
static bool read_sealed(int fd, struct cc_handover *handover, struct cc_err *err)
{
    off_t size = lseek(fd, 0, SEEK_END);

    if (fcntl(fd, F_GET_SEALS) != SEALS || size <= 0 || (size_t)size > TEXT_MOST)
        return cc_fail(err,
                       "the environment has " CC_HANDOVER_VARIABLE
                       ", and descriptor %d is no handover of a running server: remove it",
                       fd);
    char *text = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED)
        return cc_fail(err, "the handover cannot be read: %s", strerror(errno));
    bool fine = cc_handover_read(handover, text, (size_t)size, err);
    munmap(text, (size_t)size);
    return fine;
}

bool cc_handover_take(struct cc_handover *handover, struct cc_err *err)
{
    const char *value = getenv(CC_HANDOVER_VARIABLE);
    uint64_t fd = 0;
    bool known = value != NULL && cc_span_to_number(cc_span_of(value), INT32_MAX, &fd);

    cc_handover_init(handover);
    unsetenv(CC_HANDOVER_VARIABLE);
    if (!known || fcntl((int)fd, F_GETFD) < 0)
        return cc_fail(err, "the environment has " CC_HANDOVER_VARIABLE
                            ", which only `ccontainer upgrade` sets: remove it");
    bool fine = read_sealed((int)fd, handover, err);
    if (fine || fcntl((int)fd, F_GET_SEALS) == SEALS)
        close((int)fd);
    if (fine && handover->master != (int)(handover->trial ? getppid() : getpid())) {
        cc_handover_clear(handover);
        return cc_fail(err, "the handover is meant for another process");
    }
    return fine;
}

static bool keep(int fd, bool open)
{
    return fd < 0 || cc_fd_cloexec(fd, !open);
}

bool cc_handover_keep_open(const struct cc_handover *handover, bool open)
{
    bool fine = keep(handover->folder.fd, open) && keep(handover->pidfile.fd, open) &&
                keep(handover->pidfile2.fd, open) && keep(handover->fifo.fd, open) &&
                keep(handover->control, open) && keep(handover->notify, open);

    for (size_t i = 0; i < handover->n_passed; i++)
        fine = keep(handover->passed[i].fd, open) && fine;
    for (size_t i = 0; i < handover->n_listeners; i++)
        fine = keep(handover->listeners[i].fd, open) && fine;
    for (size_t i = 0; i < handover->n_generations; i++)
        fine = keep(handover->generations[i].channel, open) &&
               keep(handover->generations[i].board, open) && fine;
    for (size_t i = 0; i < handover->n_clients; i++)
        fine = keep(handover->clients[i], open) && fine;
    return fine;
}
