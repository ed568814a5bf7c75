/* The algorithm busyness of cheaper.h: the share of time that threads are in the app, averaged over
 * cheaper-overload seconds, is kept between two limits. It is quick to start workers and slow to
 * end them; slower still (the multiplier grows) when one that it ended was needed again soon. */
#include <stdarg.h>
#include <stdio.h>

#include "log/log.h"
#include "process/cheaper.h"

/* Windows in a row between the limits after which the wait for ending a worker begins anew. */
#define TOLERATED_MANY 3

static void CC_PRINTF(2, 3) say(const struct cc_cheaper_settings *settings, const char *format, ...)
{
    char text[160];
    va_list arguments;

    if (!settings->verbose)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cc_log(CC_LOG_INFO, "busyness: %s", text);
}

static void wait_again(struct cc_busyness *busyness, const struct cc_cheaper_settings *settings,
                       int64_t second)
{
    int64_t multiplier =
        busyness->emergency > 0 ? settings->backlog_multiplier : busyness->multiplier;

    busyness->next_cheap = second + settings->overload * multiplier;
}

static void relax(struct cc_busyness *busyness, const struct cc_cheaper_settings *settings)
{
    if (busyness->multiplier > settings->multiplier)
        busyness->multiplier--;
}

static int start_for_backlog(struct cc_busyness *busyness,
                             const struct cc_cheaper_settings *settings,
                             const struct cc_cheaper_figures *figures, const char **why)
{
    int room = figures->most - figures->workers;
    int count = settings->backlog_step < room ? (int)settings->backlog_step : room;

    busyness->multiplier = settings->multiplier;
    busyness->last_was_cheap = false;
    busyness->waiting = 0;
    busyness->emergency += count;
    wait_again(busyness, settings, figures->second);
    *why = "clients wait in the listen queue";
    return count;
}

static int too_busy(struct cc_busyness *busyness, const struct cc_cheaper_settings *settings,
                    const struct cc_cheaper_figures *figures, const char **why)
{
    int64_t soon = settings->overload * busyness->multiplier;

    busyness->tolerated = 0;
    if (figures->workers >= figures->most)
        return 0;
    if (busyness->last_cheaped > 0 && figures->second - busyness->last_cheaped <= soon) {
        busyness->multiplier += settings->penalty;
        say(settings, "one that was ended is needed again: the multiplier is %lld now",
            (long long)busyness->multiplier);
    } else {
        relax(busyness, settings);
    }
    busyness->last_was_cheap = false;
    wait_again(busyness, settings, figures->second);
    *why = "busyness is above cheaper-busyness-max";
    return (int)settings->step;
}

static int hardly_busy(struct cc_busyness *busyness, const struct cc_cheaper_settings *settings,
                       const struct cc_cheaper_figures *figures, const char **why)
{
    busyness->tolerated = 0;
    if (figures->workers <= figures->least)
        return 0;
    if (figures->second < busyness->next_cheap) {
        say(settings, "%lld s until a worker is ended",
            (long long)(busyness->next_cheap - figures->second));
        return 0;
    }
    if (busyness->last_was_cheap)
        relax(busyness, settings);
    if (busyness->emergency > 0)
        busyness->emergency--;
    busyness->last_was_cheap = true;
    busyness->last_cheaped = figures->second;
    wait_again(busyness, settings, figures->second);
    *why = "busyness is below cheaper-busyness-min";
    return -1;
}

static int end_window(struct cc_busyness *busyness, const struct cc_cheaper_settings *settings,
                      const struct cc_cheaper_figures *figures, const char **why)
{
    double percent = busyness->room > 0 ? 100 * busyness->busy / busyness->room : 0;

    say(settings, "%d workers were busy for %.0f%% of %d s, %d clients wait", figures->workers,
        percent, busyness->seconds, figures->backlog);
    busyness->busy = busyness->room = 0;
    busyness->seconds = 0;
    if (percent > (double)settings->busyness_max)
        return too_busy(busyness, settings, figures, why);
    if (percent < (double)settings->busyness_min)
        return hardly_busy(busyness, settings, figures, why);
    if (busyness->emergency > 0)
        busyness->emergency--;
    if (++busyness->tolerated >= TOLERATED_MANY)
        wait_again(busyness, settings, figures->second);
    else
        busyness->next_cheap += settings->overload; /* this window does not count as idle */
    return 0;
}

int cc_cheaper_busyness(struct cc_busyness *busyness, const struct cc_cheaper_settings *settings,
                        const struct cc_cheaper_figures *figures, const char **why)
{
    if (busyness->multiplier == 0) {
        busyness->multiplier = settings->multiplier;
        wait_again(busyness, settings, figures->second);
    }
    busyness->busy += figures->busy;
    busyness->room += (double)figures->workers * figures->threads;
    busyness->seconds++;
    busyness->waiting = figures->backlog > 0 ? busyness->waiting + 1 : 0;
    if (figures->workers < figures->most && (figures->backlog > settings->backlog_alert ||
                                             busyness->waiting >= settings->backlog_nonzero))
        return start_for_backlog(busyness, settings, figures, why);
    if (busyness->seconds < settings->overload)
        return 0;
    return end_window(busyness, settings, figures, why);
}
