/* The files of gdb's own process that scripts can name: memory, and folders, on descriptors far above those in use,
 * closed on exec. */
#ifndef LBX_PLUGIN_FILES_H
#define LBX_PLUGIN_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum lbx_descriptor {
	LBX_REQUEST_FD = 900,
	LBX_RESPONSE_FD = 901,
	LBX_QUESTION_FD = 902,
	LBX_LANGUAGE_FD = 903,
	LBX_SETTINGS_FD = 904,
	LBX_GRAPHS_FD = 905, /* the folder of the process that has published graphs last (graph_files.c) */
	LBX_GRAPHS_BEFORE_FD = 907, /* the folder of the one before it */
	LBX_TENSORS_FD = 908,       /* what stands for the source of the tensors' names (address_names.c) */
	LBX_STEP_IN_FD = 909,       /* continues to the first line of the next graph that is evaluated (step.c) */
	LBX_SETTLE_FD = 910,        /* a line that does nothing: gdb runs a stop's commands, if they still have to */
	LBX_ANSWER_FD = 911,        /* JSON, for whoever drives gdb (answers.h) */
	LBX_LEVEL_FD = 912,         /* of the frame that a stop is to show, in digits (front_end.h) */
	LBX_INDEXED_FD = 913,       /* the questions of a round that share settings (questions.c) */
	LBX_SYSROOT_FD = 914,       /* gdb's setting: what it was set to last */
	LBX_DESCRIPTORS_END,
};
#define LBX_REQUEST_FILE "/proc/self/fd/900"
#define LBX_RESPONSE_FILE "/proc/self/fd/901"
#define LBX_QUESTION_FILE "/proc/self/fd/902"
#define LBX_LANGUAGE_FILE "/proc/self/fd/903"
#define LBX_SETTINGS_FILE "/proc/self/fd/904"
#define LBX_GRAPHS_FOLDERS "/proc/self/fd/905:/proc/self/fd/907"
#define LBX_TENSORS_FILE "/proc/self/fd/908"
#define LBX_STEP_IN_FILE "/proc/self/fd/909"
#define LBX_SETTLE_FILE "/proc/self/fd/910"
#define LBX_INDEXED_FILE "/proc/self/fd/913"
#define LBX_SYSROOT_FILE "/proc/self/fd/914"

#define LBX_LEVEL_OF_PARENT "/proc/$PPID/fd/912" /* from a shell */

/* Memory with that text, or a folder that holds no file for gdb; fails when the descriptor is taken. */
bool lbx_file_open(enum lbx_descriptor at, const char *name, const char *text);
bool lbx_file_open_folder(enum lbx_descriptor at);
/* Puts a descriptor, which is closed, in the place of one of these. */
bool lbx_file_place(int fd, enum lbx_descriptor at);

/* In the place of what it held; behind that. */
bool lbx_file_write(enum lbx_descriptor at, const char *text, size_t n);
bool lbx_file_append(enum lbx_descriptor at, const char *text, size_t n);
/* Up to size - 1 bytes from the beginning on, and a NUL; 0 also when there is nothing, or it cannot be read. */
size_t lbx_file_read(enum lbx_descriptor at, char *ret, size_t size);
/* Whether one of the last lines has the mark. With `maint time` some lines follow it. */
bool lbx_file_ends_with(enum lbx_descriptor at, const char *mark);

#endif
