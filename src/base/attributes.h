/* The GNU attributes that the project uses, under readable names. */
#ifndef CC_BASE_ATTRIBUTES_H
#define CC_BASE_ATTRIBUTES_H

#define CC_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define CC_COLD                __attribute__((cold))
#define CC_MUST_CHECK          __attribute__((warn_unused_result))
#define CC_EXPORT              __attribute__((visibility("default")))
#define CC_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define CC_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
