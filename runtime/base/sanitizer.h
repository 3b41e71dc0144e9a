/* Which sanitizers this was built with: gcc and clang say it in different ways. */
#ifndef LB_BASE_SANITIZER_H
#define LB_BASE_SANITIZER_H

#ifdef __has_feature
#define LB_SANITIZES_ADDRESSES __has_feature(address_sanitizer)
#define LB_SANITIZES_THREADS __has_feature(thread_sanitizer)
#else
#ifdef __SANITIZE_ADDRESS__
#define LB_SANITIZES_ADDRESSES 1
#else
#define LB_SANITIZES_ADDRESSES 0
#endif
#ifdef __SANITIZE_THREAD__
#define LB_SANITIZES_THREADS 1
#else
#define LB_SANITIZES_THREADS 0
#endif
#endif
/* Either reserves more address space than any limit allows, and makes a process slow to start. */
#define LB_SANITIZED (LB_SANITIZES_ADDRESSES || LB_SANITIZES_THREADS)

#endif
