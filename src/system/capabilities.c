/* See capabilities.h. */
#include "system/capabilities.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/alloc.h"

static bool add(const char *word, uint64_t *wanted, struct cc_err *err)
{
    bool whole = strncasecmp(word, "cap_", 4) == 0;
    char *name = cc_format("%s%s", whole ? "" : "cap_", word);
    cap_value_t value;
    bool found =
        cap_from_name(name, &value) == 0 && value >= 0 && value < 64 && CAP_IS_SUPPORTED(value);

    free(name);
    if (!found)
        return cc_fail(err,
                       "cap: there is no capability \"%s\"; expected names such as "
                       "net_bind_service (capabilities(7) lists them)",
                       word);
    *wanted |= UINT64_C(1) << value;
    return true;
}

bool cc_capabilities_find(const struct cc_texts *names, uint64_t *wanted, struct cc_err *err)
{
    bool fine = true;

    *wanted = 0;
    for (size_t i = 0; i < names->count && fine; i++) {
        char *text = cc_strdup(names->items[i].text), *rest = NULL;
        for (char *word = strtok_r(text, ", \t", &rest); word != NULL && fine;
             word = strtok_r(NULL, ", \t", &rest))
            fine = add(word, wanted, err);
        free(text);
    }
    return fine;
}

bool cc_capabilities_keep(uint64_t wanted, struct cc_err *err)
{
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0)
        return cc_fail(err, "cap: capabilities cannot be kept: %s", strerror(errno));
    for (cap_value_t value = 0; value < 64 && CAP_IS_SUPPORTED(value); value++) {
        if ((wanted >> value & 1) != 0 || cap_get_bound(value) != 1)
            continue;
        if (cap_drop_bound(value) != 0)
            return cc_fail(err, "cap: the other capabilities cannot be given up: %s",
                           strerror(errno));
    }
    return true;
}

bool cc_capabilities_take(uint64_t wanted, struct cc_err *err)
{
    cap_t set = cap_init();
    bool fine = set != NULL;

    for (cap_value_t value = 0; value < 64 && fine; value++)
        if ((wanted >> value & 1) != 0)
            fine = cap_set_flag(set, CAP_PERMITTED, 1, &value, CAP_SET) == 0 &&
                   cap_set_flag(set, CAP_EFFECTIVE, 1, &value, CAP_SET) == 0;
    if (fine)
        fine = cap_set_proc(set) == 0;
    if (!fine)
        cc_fail(err,
                "cap: the capabilities cannot be had: %s (a container has only those that it "
                "was started with)",
                strerror(errno));
    cap_free(set);
    return fine;
}

/* The process's own are one set of permitted, inheritable and effective ones. */
static bool make_inheritable(bool on)
{
    cap_t set = cap_get_proc();
    bool fine = set != NULL;

    for (cap_value_t value = 0; value < 64 && CAP_IS_SUPPORTED(value) && fine; value++) {
        cap_flag_value_t has = CAP_CLEAR;
        fine = cap_get_flag(set, value, CAP_PERMITTED, &has) == 0 &&
               cap_set_flag(set, CAP_INHERITABLE, 1, &value, on ? has : CAP_CLEAR) == 0;
    }
    fine = fine && cap_set_proc(set) == 0;
    cap_free(set);
    return fine;
}

bool cc_capabilities_over_exec(bool on)
{
    if (geteuid() == 0)
        return true; /* root gets them by what it is */
    bool fine = make_inheritable(on);
    if (!on)
        return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 && fine;
    for (cap_value_t value = 0; value < 64 && CAP_IS_SUPPORTED(value) && fine; value++) {
        cap_flag_value_t has = CAP_CLEAR;
        cap_t set = cap_get_proc();
        if (set != NULL && cap_get_flag(set, value, CAP_PERMITTED, &has) == 0 && has == CAP_SET)
            fine = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, (unsigned long)value, 0, 0) == 0;
        cap_free(set);
    }
    return fine;
}
