/* needs: plugins/http tests/fuzz/fuzz_session.c tests/unit/fake_session.c */
/* Any bytes on an HTTP connection: no crash, the same in every split, and nothing but clean
 * variables and whole bodies for the app. */
#include "fuzz_session.h"

#include "http/http_settings.h"
#include "plugin/abi.h"

extern const struct cc_plugin cc_plugin;
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_var(const struct cc_pair *var)
{
    bool path = cc_span_equal(var->name, CC_SPAN("PATH_INFO"));

    FUZZ_CHECK(var->name.len > 0);
    for (size_t i = 0; i < var->name.len; i++) {
        unsigned char c = (unsigned char)var->name.at[i];
        FUZZ_CHECK(c > ' ' && c < 0x7f && c != '-' && c != ':' && c != '=' && (c < 'a' || c > 'z'));
    }
    for (size_t i = 0; i < var->value.len; i++) {
        unsigned char c = (unsigned char)var->value.at[i];
        FUZZ_CHECK(c != '\0');
        FUZZ_CHECK(path || c == '\t' || (c >= ' ' && c != 0x7f));
    }
}

static void check(const struct cc_request *request, const void *pointer)
{
    const struct cc_http_settings *settings = pointer;
    const struct cc_span *length = cc_request_var(request, CC_SPAN("CONTENT_LENGTH"));
    uint64_t number = 0;

    for (size_t i = 0; i < request->n_vars; i++) {
        check_var(&request->vars[i]);
        for (size_t k = 0; k < i; k++)
            FUZZ_CHECK(!cc_span_equal(request->vars[i].name, request->vars[k].name));
    }
    FUZZ_CHECK(request->method.len > 0 && request->uri.len > 0 && request->protocol.len == 8);
    FUZZ_CHECK(cc_request_var(request, CC_SPAN("PATH_INFO"))->at[0] == '/');
    FUZZ_CHECK(request->protocol.at[7] == '0' || cc_request_var(request, CC_SPAN("HTTP_HOST")));
    FUZZ_CHECK(cc_request_var(request, CC_SPAN("HTTP_PROXY")) == NULL);
    FUZZ_CHECK(length == NULL || !request->body.chunked);
    FUZZ_CHECK(length == NULL || cc_span_to_number(*length, INT64_MAX, &number));
    FUZZ_CHECK(request->body.chunked || request->body.length == (int64_t)number);
    FUZZ_CHECK(settings->body_limit == 0 || request->body.length <= settings->body_limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct cc_http_settings defaults = {65536, 16384, 100, 0};
    static const struct cc_http_settings small = {300, 60, 6, 50};
    static const char *const pieces[] = {"hello", "", "world", NULL};
    static const struct fake_answer chunked = {{.status = 200, .length = -1}, pieces, false};
    const struct fuzz_setup setups[] = {
        {cc_plugin.ops.protocol, &defaults, &chunked, 0, check},
        {cc_plugin.ops.protocol, &small, NULL, 40, check},
    };

    fuzz_splits(&setups[0], bytes, len);
    fuzz_splits(&setups[1], bytes, len);
    return 0;
}
