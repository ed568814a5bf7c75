/* cmocka with the headers that it wants before it. */
#ifndef CC_TEST_H
#define CC_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
