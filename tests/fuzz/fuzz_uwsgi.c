/* needs: plugins/uwsgi tests/fuzz/fuzz_session.c tests/unit/fake_session.c */
/* Any bytes on a uwsgi connection: no crash, the same in every split, and nothing but whole
 * requests for the app. */
#include "fuzz_session.h"

#include "plugin/abi.h"
#include "uwsgi/uwsgi_vars.h"

extern const struct cc_plugin cc_plugin;
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(const struct cc_request *request, const void *pointer)
{
    static const struct cc_span needed[] = {CC_SPAN("REQUEST_METHOD"), CC_SPAN("SCRIPT_NAME"),
                                            CC_SPAN("PATH_INFO"),      CC_SPAN("QUERY_STRING"),
                                            CC_SPAN("SERVER_NAME"),    CC_SPAN("SERVER_PORT"),
                                            CC_SPAN("SERVER_PROTOCOL")};
    const struct cc_uwsgi_settings *settings = pointer;
    const struct cc_span *length = cc_request_var(request, CC_SPAN("CONTENT_LENGTH"));
    uint64_t number = 0;

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        FUZZ_CHECK(cc_request_var(request, needed[i]) != NULL);
    for (size_t i = 0; i < request->n_vars; i++)
        FUZZ_CHECK(request->vars[i].name.len > 0);
    FUZZ_CHECK(length == NULL || length->len == 0 ||
               cc_span_to_number(*length, INT64_MAX, &number));
    FUZZ_CHECK(request->body.length == (int64_t)number);
    FUZZ_CHECK(settings->body_limit == 0 || request->body.length <= settings->body_limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct cc_uwsgi_settings defaults = {65535, 0}, small = {256, 50};
    static const char *const pieces[] = {"hello", "world", NULL};
    static const struct fake_answer answer = {{.status = 200, .length = 7}, pieces, false};
    const struct fuzz_setup setups[] = {
        {cc_plugin.ops.protocol, &defaults, &answer, 0, check},
        {cc_plugin.ops.protocol, &small, NULL, 40, check},
    };

    fuzz_splits(&setups[0], bytes, len);
    fuzz_splits(&setups[1], bytes, len);
    return 0;
}
