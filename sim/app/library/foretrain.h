/* foretrain as a library for C and whatever calls C: a command line in the caller's process. */
#ifndef FORETRAIN_H
#define FORETRAIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FORETRAIN_EXPORT __attribute__((visibility("default")))

/* What a command came to: its exit code, and the texts it would have printed. */
typedef struct foretrain_result foretrain_result;

/* Carries out a command line, without the program's name: {"predict", "mahti-resnet50-ddp", "--format",
   "json"}. Several threads may call at once; each has a result of its own. Nothing is printed, and the
   process's signals, locale, folder and environment stay as they are, but for the signal handlers that
   `sweep run` sets while it works. Commands that need a process of their own (serve, mcp, record,
   calibrate run and machine) are refused with exit code 3. NULL: out of memory, or an error of
   foretrain itself. */
FORETRAIN_EXPORT foretrain_result* foretrain_run(int count, const char* const* arguments);

/* 0 ok, 1 wrong input, 2 wrong usage, 3 environment error, 130 interrupted. */
FORETRAIN_EXPORT int foretrain_exit_code(const foretrain_result* result);

/* What would be standard output and standard error, in UTF-8. They live as long as the result, end with a
   NUL that `size` does not count, and may hold NULs before it. */
FORETRAIN_EXPORT const char* foretrain_output(const foretrain_result* result, size_t* size);
FORETRAIN_EXPORT const char* foretrain_messages(const foretrain_result* result, size_t* size);

FORETRAIN_EXPORT void foretrain_free(foretrain_result* result);

/* "0.5.0". */
FORETRAIN_EXPORT const char* foretrain_version(void);

/* The whole program, with the name of the program as argv[0]: prints, and returns the exit code. */
FORETRAIN_EXPORT int foretrain_main(int argc, char** argv);

#ifdef __cplusplus
}
#endif

#endif
