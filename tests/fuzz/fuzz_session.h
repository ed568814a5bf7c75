/* What the protocol plugins' harnesses share. */
#ifndef CC_TESTS_FUZZ_SESSION_H
#define CC_TESTS_FUZZ_SESSION_H

#include "fake_session.h"

/* One way to run a connection. */
struct fuzz_setup {
    const struct cc_protocol *protocol;
    const void *settings;
    const struct fake_answer *answer;
    int64_t body_limit;
    void (*check)(const struct cc_request *request, const void *settings);
};

/* Aborts where the bytes in pieces lead to other requests, refusals or answers than the bytes in
 * one: whole, byte by byte, and in pieces of sizes that depend on the bytes. */
void fuzz_splits(const struct fuzz_setup *setup, const uint8_t *bytes, size_t len);

/* Says what is wrong, and aborts, so that the fuzzer keeps the input. */
#define FUZZ_CHECK(condition) ((condition) ? (void)0 : fuzz_fail(#condition, __FILE__, __LINE__))
void fuzz_fail(const char *condition, const char *file, int line) __attribute__((noreturn));

#endif
