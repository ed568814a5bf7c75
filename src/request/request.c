/* See request.h. */
#include "request/request.h"

#include <string.h>

#define FIRST_VARS ((size_t)32)

void cc_request_init(struct cc_request *request)
{
    *request = (struct cc_request){.body = {.fd = -1}};
}

void cc_request_add_var(struct cc_request *request, struct cc_span name, struct cc_span value)
{
    if (request->n_vars == request->vars_cap) {
        size_t cap = request->vars_cap == 0 ? FIRST_VARS : request->vars_cap * 2;
        struct cc_pair *vars = cc_arena_alloc(&request->arena, cap * sizeof *vars);
        if (request->n_vars > 0)
            memcpy(vars, request->vars, request->n_vars * sizeof *vars);
        request->vars = vars;
        request->vars_cap = cap;
    }
    request->vars[request->n_vars++] = (struct cc_pair){name, value};
}

const struct cc_span *cc_request_var(const struct cc_request *request, struct cc_span name)
{
    for (size_t i = request->n_vars; i > 0; i--)
        if (cc_span_equal(request->vars[i - 1].name, name))
            return &request->vars[i - 1].value;
    return NULL;
}

void cc_request_reset(struct cc_request *request)
{
    struct cc_arena arena = request->arena;
    struct cc_body body = request->body;

    cc_arena_reset(&arena);
    cc_body_clear(&body);
    *request = (struct cc_request){.arena = arena, .body = body};
}

void cc_request_clear(struct cc_request *request)
{
    cc_arena_clear(&request->arena);
    cc_body_clear(&request->body);
    cc_buf_clear(&request->body.memory);
    cc_request_init(request);
}
