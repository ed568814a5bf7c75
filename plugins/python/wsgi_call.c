/* See wsgi_call.h. The order at the end of a request: the iterable's close(), environ given up, the
 * app's references to start_response, write and wsgi.input made harmless, then, without the GIL,
 * reply->end(); after it the request's memory is not ours. */
#include "python/wsgi_call.h"

#include "base/attributes.h"
#include "python/environ.h"
#include "python/failure.h"
#include "python/file_wrapper.h"
#include "python/head.h"
#include "python/reload_on.h"
#include "python/response.h"
#include "python/start_response.h"
#include "python/wsgi_input.h"

/* A body up to this size may stay in memory until the thread's next request: giving it up at once
 * would cost another round of the GIL. */
#define SMALL_LEFTOVER 16384

static void begin(struct cc_call *call, struct cc_python_thread *thread, struct cc_request *request,
                  struct cc_reply *reply)
{
    struct cc_head head = call->head; /* its memory is used again */

    *call = (struct cc_call){
        .thread = thread,
        .request = request,
        .reply = reply,
        .head = head,
        .length = -1,
        .bodiless = cc_span_equal(request->method, CC_SPAN("HEAD")),
    };
    cc_head_reset(&call->head);
}

/* The app's iterable, or NULL with an exception. */
static PyObject *call_app(struct cc_call *call)
{
    struct cc_python_thread *thread = call->thread;
    PyObject *input = cc_input_begin(thread, &call->request->body);

    if (input == NULL || !cc_start_response_begin(call))
        return NULL;
    PyObject *environ = cc_environ_make(thread->python->environ, call->request, input);
    if (environ == NULL)
        return NULL;
    PyObject *arguments[] = {NULL, environ, (PyObject *)thread->start_response};
    PyObject *result = PyObject_Vectorcall(thread->python->callable, arguments + 1,
                                           2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(environ);
    return result;
}

/* What is wrong with a whole answer, in words that help more than those of the first chunk. False
 * with an exception. */
static bool check_result(PyObject *result)
{
    if (result == Py_None || PyUnicode_Check(result)) {
        PyErr_Format(PyExc_TypeError,
                     "the app returned %s: it must return an iterable of bytes, such as [b'...']",
                     result == Py_None ? "None" : "a str");
        return false;
    }
    if (Py_TYPE(result)->tp_iter == NULL && !PySequence_Check(result)) {
        PyErr_Format(PyExc_TypeError,
                     "the app returned %.200R: it must return an iterable of bytes", result);
        return false;
    }
    return true;
}

/* The head of an answer that had no bytes in it. */
static bool finish(struct cc_call *call)
{
    return call->head_sent || cc_response_head(call, 0);
}

static bool send_iterable(struct cc_call *call, PyObject *result)
{
    if (!check_result(result))
        return false;
    PyObject *iterator = PyObject_GetIter(result);
    PyObject *chunk;
    bool ok = iterator != NULL;

    while (ok && !call->gone && !call->overlong && (chunk = PyIter_Next(iterator)) != NULL) {
        ok = cc_response_chunk(call, chunk, "a piece of the response");
        Py_DECREF(chunk);
    }
    Py_XDECREF(iterator);
    return ok && !PyErr_Occurred() && finish(call);
}

/* The bytes of all pieces of a list or tuple; -1 when one is not bytes. */
static int64_t total_length(PyObject *const *items, Py_ssize_t count)
{
    int64_t total = 0;

    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyBytes_Check(items[i]))
            return -1;
        total += (int64_t)PyBytes_GET_SIZE(items[i]);
    }
    return total;
}

/* A list or tuple says how long the body is before its first piece is sent. */
static bool send_sequence(struct cc_call *call, PyObject *result)
{
    int64_t total = total_length(PySequence_Fast_ITEMS(result), PySequence_Fast_GET_SIZE(result));

    if (total >= 0 && !call->head_sent && !cc_response_head(call, total))
        return false;
    return send_iterable(call, result);
}

/* The whole body, should it be one piece of bytes; borrowed. */
static PyObject *only_piece(PyObject *result)
{
    PyObject *piece = NULL;

    if (PyList_CheckExact(result) && PyList_GET_SIZE(result) == 1)
        piece = PyList_GET_ITEM(result, 0);
    else if (PyTuple_CheckExact(result) && PyTuple_GET_SIZE(result) == 1)
        piece = PyTuple_GET_ITEM(result, 0);
    else if (PyBytes_CheckExact(result)) /* as uWSGI does; PEP 3333 wants [b'...'] */
        piece = result;
    return piece != NULL && PyBytes_CheckExact(piece) ? piece : NULL;
}

/* Sends the answer, but for a last piece that *last is a new reference to: its head is sent, and
 * nothing of the app's is to run after it. False with an exception. */
static bool respond(struct cc_call *call, PyObject *result, PyObject **last)
{
    PyObject *piece = only_piece(result);

    if (CC_LIKELY(piece != NULL)) {
        if (!call->head_sent && !cc_response_head(call, (int64_t)PyBytes_GET_SIZE(piece)))
            return false;
        Py_INCREF(piece);
        *last = piece;
        return true;
    }
    if (PyList_CheckExact(result) || PyTuple_CheckExact(result))
        return send_sequence(call, result);
    switch (cc_file_wrapper_send(call, result)) {
    case CC_WRAPPED_SENT:
        return true;
    case CC_WRAPPED_FAILED:
        return false;
    case CC_WRAPPED_NO:
        break;
    }
    return send_iterable(call, result);
}

/* close() is called whatever has happened before (PEP 3333, "Specification Details"). */
static void close_result(struct cc_call *call, PyObject *result)
{
    if (PyList_CheckExact(result) || PyTuple_CheckExact(result) || PyBytes_CheckExact(result))
        return;
    PyObject *close = PyObject_GetAttrString(result, "close");
    if (close == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return;
    }
    PyObject *done = close == NULL ? NULL : PyObject_CallNoArgs(close);
    if (done == NULL)
        cc_python_log_failure(call, "close() of the response raised an exception");
    Py_XDECREF(done);
    Py_XDECREF(close);
}

/* Logs the exception. A client that went away while the app wrote to it is no fault of the app's.
 */
static void note_failure(struct cc_call *call)
{
    if (call->gone && PyErr_ExceptionMatches(PyExc_ConnectionError)) {
        PyErr_Clear();
        return;
    }
    cc_reload_on_exception(call->thread->python);
    cc_python_log_failure(call, call->head_sent ? "the app raised an exception after the head of "
                                                  "its response was sent"
                                                : "the app raised an exception");
}

/* Runs the app. False: the response must not look complete. */
static bool run(struct cc_call *call, PyObject **last)
{
    PyObject *result = call_app(call);
    bool ok = result != NULL && respond(call, result, last);

    if (!ok)
        note_failure(call);
    if (result == NULL)
        return false;
    close_result(call, result);
    Py_DECREF(result);
    return ok && !call->gone;
}

/* Also true of a body that is as long as its Content-Length said. */
static bool is_whole(struct cc_call *call, int64_t last)
{
    if (call->length < 0 || call->bodiless || call->sent + last >= call->length)
        return true;
    cc_python_log_request(call, CC_APP_LOG_WARN,
                          "the app sent %lld bytes, fewer than its Content-Length of %lld",
                          (long long)(call->sent + last), (long long)call->length);
    return false;
}

/* Makes the app's references harmless and gives up what belongs to the request. */
static void detach(struct cc_call *call)
{
    cc_response_wait(call);
    cc_input_detach(call->thread);
    cc_start_response_detach(call->thread);
    cc_head_reset(&call->head);
}

/* The last piece and the end, without the GIL: nothing of Python's is touched. */
static void send_end(struct cc_reply *reply, PyObject *last, int64_t len, bool whole)
{
    if (last != NULL && len > 0)
        reply->body(reply, PyBytes_AS_STRING(last), (size_t)len, true);
    reply->end(reply, whole);
}

void cc_wsgi_call(struct cc_python_thread *thread, struct cc_request *request,
                  struct cc_reply *reply)
{
    struct cc_call *call = &thread->call;
    PyObject *last = NULL;
    int64_t len = 0;

    PyEval_RestoreThread(thread->state);
    Py_CLEAR(thread->leftover);
    begin(call, thread, request, reply);
    bool whole = run(call, &last);
    if (last != NULL && !call->gone)
        len = cc_response_allowance(call, (int64_t)PyBytes_GET_SIZE(last));
    whole = whole && is_whole(call, len);
    detach(call);
    thread->leftover = last;
    thread->state = PyEval_SaveThread();
    send_end(reply, last, len, whole);
    if (len > SMALL_LEFTOVER) {
        PyEval_RestoreThread(thread->state);
        Py_CLEAR(thread->leftover);
        thread->state = PyEval_SaveThread();
    }
}

void cc_wsgi_thread_clear(struct cc_python_thread *thread)
{
    Py_CLEAR(thread->leftover);
    Py_CLEAR(thread->start_response);
    Py_CLEAR(thread->write);
    Py_CLEAR(thread->input);
    cc_head_clear(&thread->call.head);
}
