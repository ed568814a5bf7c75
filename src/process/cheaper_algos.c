/* The simple algorithms of cheaper.h. They see averages over a second, not one moment, so that many
 * short requests count as the load that they are. */
#include "process/cheaper.h"

/* All threads are busy when this share of their time is. */
#define FULL 0.9
/* With one worker less, this share of the threads may be busy, and so much of a thread is left. */
#define ROOMY       0.75
#define LEFT_OF_ONE 0.75

static bool overloaded(const struct cc_cheaper_figures *figures)
{
    return figures->busy >= FULL * figures->workers * figures->threads;
}

/* Would the others do? Not so closely that the next second brings it back. */
static bool one_is_spare(const struct cc_cheaper_figures *figures)
{
    double left = (double)(figures->workers - 1) * figures->threads;

    return figures->busy <= left - LEFT_OF_ONE && figures->busy <= ROOMY * left;
}

int cc_cheaper_spare(struct cc_cheaper *cheaper, const struct cc_cheaper_settings *settings,
                     const struct cc_cheaper_figures *figures, const char **why)
{
    cheaper->overload = overloaded(figures) ? cheaper->overload + 1 : 0;
    cheaper->spare = one_is_spare(figures) ? cheaper->spare + 1 : 0;
    if (cheaper->overload >= settings->overload && figures->workers < figures->most) {
        cheaper->overload = 0;
        *why = "all threads are busy";
        return (int)settings->step;
    }
    if (cheaper->spare >= settings->overload && figures->workers > figures->least) {
        cheaper->spare = 0;
        *why = "the others suffice";
        return -1;
    }
    return 0;
}

int cc_cheaper_spare2(struct cc_cheaper *cheaper, const struct cc_cheaper_settings *settings,
                      const struct cc_cheaper_figures *figures, const char **why)
{
    /* Whole workers' worth of threads that have nothing to do; half a one is one. */
    int spare = figures->workers - (int)(figures->busy / figures->threads + 0.5);
    int missing = figures->least - spare;

    if (missing > 0) {
        cheaper->spare = 0;
        *why = "too few are spare";
        return missing < (int)settings->step ? missing : (int)settings->step;
    }
    cheaper->spare = missing < 0 ? cheaper->spare + 1 : 0;
    if (cheaper->spare < settings->idle)
        return 0;
    cheaper->spare = 0;
    *why = "more are spare than needed";
    return -1;
}

int cc_cheaper_backlog(const struct cc_cheaper_settings *settings,
                       const struct cc_cheaper_figures *figures, const char **why)
{
    if (figures->backlog > settings->overload) {
        *why = "clients wait in the listen queue";
        return (int)settings->step;
    }
    if (figures->backlog == settings->overload)
        return 0;
    /* uWSGI ends one a second, needed or not, and starts it again a second later. */
    *why = "nobody waits, and the others suffice";
    return figures->backlog == 0 && one_is_spare(figures) ? -1 : 0;
}
