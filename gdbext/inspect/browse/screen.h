/* The whole terminal, by curses: one screen at a time, on /dev/tty. Whoever had the terminal before finds it as it was, and
 * the signals too, whatever ends it. In gdb, that is readline; or gdb's TUI, which uses curses itself, in the same
 * process, and must not be drawing now: its screen and its terminal are put back as those that curses works on. */
#ifndef LBX_SCREEN_H
#define LBX_SCREEN_H

#include <stdbool.h>

/* Beyond these and the characters that are typed, keys mean nothing. */
enum {
	LBX_KEY_NONE = 0,
	LBX_KEY_INTERRUPT = 3, /* Ctrl-C */
	LBX_KEY_REDRAW = 12, /* Ctrl-L */
	LBX_KEY_ERASE = 21, /* Ctrl-U */
	LBX_KEY_ESCAPE = 27,
	LBX_KEY_BACKSPACE = 127,
	LBX_KEY_UP = 256,
	LBX_KEY_DOWN,
	LBX_KEY_LEFT,
	LBX_KEY_RIGHT,
	LBX_KEY_PAGE_UP,
	LBX_KEY_PAGE_DOWN,
	LBX_KEY_HOME,
	LBX_KEY_END,
	LBX_KEY_ENTER,
	LBX_KEY_RESIZED,
	LBX_KEY_GONE, /* the process is to end, or there is no terminal any more */
};

/* How text looks; LBX_SCREEN_HEAT + i: the i-th of as many colours as there are, from dark to bright. */
enum {
	LBX_SCREEN_PLAIN,
	LBX_SCREEN_BOLD,
	LBX_SCREEN_DIM,
	LBX_SCREEN_REVERSE,
	LBX_SCREEN_MARKED, /* NaN, Inf */
	LBX_SCREEN_DIFFERS,
	LBX_SCREEN_HEAT,
};

/* Fails, with the reason, where there is no terminal, or none on which a cursor can be moved. To be closed also when an
 * exception of gdb's goes through who has opened it: a cleanup. */
bool lbx_screen_open(bool colour);
void lbx_screen_close(void); /* one that is not open is fine */

void lbx_screen_size(int *lines, int *columns);
/* How many colours a heat map has; 0: none are to be seen. */
int lbx_screen_heat(void);
void lbx_screen_clear(void);
/* Puts text, UTF-8, no more than `room` columns of it; returns how many it takes. */
int lbx_screen_put(int line, int column, int room, int style, const char *text);
/* What was put is seen now, the cursor where it says; -1: it is not seen. */
void lbx_screen_show(int line, int column);
/* All is drawn anew, also what something else has overwritten. */
void lbx_screen_redraw(void);
/* Waits for a key, `ms` milliseconds at most, behind which there is LBX_KEY_NONE; -1: for as long as it takes. */
int lbx_screen_key(int ms);
/* Whether long work is to end: Ctrl-C was pressed since this was asked, or the process is to end. */
bool lbx_screen_interrupted(void);

#endif
