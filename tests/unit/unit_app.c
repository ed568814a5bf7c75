/* See unit_app.h. */
#include "cc_test.h"

#include "unit_app.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct app_host host;
struct answer answer;

void ask_with(const char *path, const char *query, struct ask ask)
{
    char *path_var = cc_format("PATH_INFO=/%s", path);
    char *query_var = cc_format("QUERY_STRING=%s", query);
    const char *vars[24] = {path_var, query_var};
    size_t count = 2;

    for (size_t i = 0; ask.vars != NULL && ask.vars[i] != NULL; i++)
        vars[count++] = ask.vars[i];
    vars[count] = NULL;
    ask.vars = vars;
    struct answer behaviour = answer;
    answer_clear(&answer);
    answer_init(&answer);
    answer.gone_after = behaviour.gone_after;
    answer.slow = behaviour.slow;
    app_host_ask(&host, host.thread, &ask, &answer);
    answer.gone_after = -1;
    answer.slow = false;
    free(path_var);
    free(query_var);
}

void ask(const char *path, const char *query)
{
    ask_with(path, query, (struct ask){0});
}

void assert_holds(struct cc_buf *buf, const char *text)
{
    if (strstr(cc_buf_text(buf), text) == NULL)
        fail_msg("no \"%s\" in: %s", text, cc_buf_text(buf));
}

void assert_failed(const char *why)
{
    assert_events("end(cut)");
    assert_holds(&answer.log, "the app raised an exception\n");
    assert_holds(&answer.log, why);
}

int unit_app_start(void **state)
{
    const char *top = getenv("top_srcdir");
    char *apps = cc_format("%s/tests/unit/apps", top == NULL ? "." : top);
    (void)state;

    answer_init(&answer);
    app_host_open(&host, "python");
    app_host_set(&host, "wsgi", "unit_app");
    app_host_set(&host, "pp", apps);
    app_host_set(&host, "pyargv", "--one  two ");
    free(apps);
    if (!app_host_load(&host, 2, 4))
        fail_msg("%s", host.err.text);
    return 0;
}

int unit_app_stop(void **state)
{
    (void)state;
    app_host_close(&host);
    answer_clear(&answer);
    return 0;
}
