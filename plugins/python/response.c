/* See response.h. */
#include "python/response.h"

#include <unistd.h>

#include "base/attributes.h"
#include "python/failure.h"

/* From here on the copy to the kernel takes longer than it takes to hand the GIL over. */
#define LARGE_CHUNK 65536
#define POLL_US     100

bool cc_response_head(struct cc_call *call, int64_t length)
{
    const struct cc_head *head = &call->head;

    if (CC_UNLIKELY(head->status == 0)) {
        PyErr_SetString(PyExc_AssertionError,
                        "the app answered without a call of start_response() (PEP 3333)");
        return false;
    }
    /* An empty body says nothing about the length that a GET would have (RFC 9110, 8.6). */
    if (call->bodiless && length == 0)
        length = -1;
    if (!cc_response_may_have_body(head->status)) {
        call->bodiless = true;
        length = -1;
    }
    struct cc_response response = {
        .status = head->status,
        .reason = head->reason,
        .headers = head->pairs,
        .n_headers = head->count,
        .length = head->length >= 0 ? head->length : length,
    };
    call->length = response.length;
    call->head_sent = true;
    call->reply->head(call->reply, &response);
    return true;
}

int64_t cc_response_allowance(struct cc_call *call, int64_t len)
{
    if (call->length < 0 || call->bodiless || len <= call->length - call->sent)
        return len;
    if (!call->overlong)
        cc_python_log_request(call, CC_APP_LOG_WARN,
                              "the app sends more than its Content-Length of %lld bytes: the rest "
                              "is dropped",
                              (long long)call->length);
    call->overlong = true;
    return call->length - call->sent;
}

static void send_bytes(struct cc_call *call, const char *bytes, size_t len)
{
    struct cc_reply *reply = call->reply;
    bool last = call->length >= 0 && !call->bodiless && call->sent + (int64_t)len == call->length;
    PyThreadState *state = NULL;

    call->sending = true;
    if (len >= LARGE_CHUNK)
        state = PyEval_SaveThread();
    enum cc_sent sent = reply->body(reply, bytes, len, last);
    if (sent == CC_SENT_PENDING && !last) {
        if (state == NULL)
            state = PyEval_SaveThread();
        if (!reply->drain(reply))
            sent = CC_SENT_GONE;
    }
    if (state != NULL)
        PyEval_RestoreThread(state);
    call->sending = false;
    call->sent += (int64_t)len;
    if (sent == CC_SENT_GONE)
        call->gone = true;
}

bool cc_response_chunk(struct cc_call *call, PyObject *chunk, const char *what)
{
    if (CC_UNLIKELY(!PyBytes_Check(chunk))) {
        PyErr_Format(PyExc_TypeError, "%s must be bytes, not %.200s: %.200R", what,
                     Py_TYPE(chunk)->tp_name, chunk);
        return false;
    }
    if (CC_UNLIKELY(call->sending)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "another thread is sending a piece of this response's body");
        return false;
    }
    int64_t len = (int64_t)PyBytes_GET_SIZE(chunk);
    if (len == 0 || call->gone)
        return true;
    if (!call->head_sent && !cc_response_head(call, -1))
        return false;
    len = cc_response_allowance(call, len);
    if (len > 0)
        send_bytes(call, PyBytes_AS_STRING(chunk), (size_t)len);
    return true;
}

void cc_response_file(struct cc_call *call, int fd, int64_t offset, int64_t len)
{
    struct cc_reply *reply = call->reply;

    call->sending = true;
    PyThreadState *state = PyEval_SaveThread();
    int64_t sent = reply->file(reply, fd, offset, len);
    PyEval_RestoreThread(state);
    call->sending = false;
    if (sent < 0)
        call->gone = true;
    else
        call->sent += sent;
}

void cc_response_wait(struct cc_call *call)
{
    while (CC_UNLIKELY(call->sending)) {
        PyThreadState *state = PyEval_SaveThread();
        usleep(POLL_US);
        PyEval_RestoreThread(state);
    }
}
