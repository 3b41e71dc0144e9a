#define _GNU_SOURCE
#include "inspect/browse/screen.h"

#include "base/error.h"

#if LB_HAVE_NCURSES
/* How the terminal is taken and given back.
 *
 * curses has one current screen, one current terminal and LINES and COLS in each process. gdb's TUI may have some of
 * these, at rest, and readline a terminal: so nothing is current when newterm() is called, and all are put back
 * behind endwin(). Ours stays for the next time: delscreen() would take away those of the other screen, too. curses would also take signals, of those that do nothing else yet: they are ours while a screen is
 * open, and what they were before afterwards.
 *
 * A signal that ends the process when the screen is closed is raised again then. One that ends it at once, since the process
 * has crashed, writes what leaves the screen and sets the terminal's modes, which a handler may do.
 *
 * Only functions that take bytes are called, none for wide characters: a gdb that was linked to another curses than this has all of
 * them, and so the process does not mix two. */
#include <curses.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "inspect/draw/raster.h"
#include "target/ascii.h"
#include "target/columns.h"

/* last: it gives capabilities names that others use */
#include <term.h>
#undef columns
#undef lines

enum {
	HEAT_MAX = 24,
	FIRST_PAIR = 1, /* of the heat map */
	MARKED_PAIR = FIRST_PAIR + HEAT_MAX,
	DIFFERS_PAIR,
	LEAVE_MAX = 256,
	TEXT_MAX = 1024,
	BLACK = 0,
	WHITE = 7,
};

static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP };
static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU };
enum { TAKEN = sizeof taken / sizeof *taken, FATAL = sizeof fatal / sizeof *fatal };

static struct {
	bool is_open;
	SCREEN *ours, *before; /* ours: from the first time on */
	TERMINAL *terminal, *terminal_before;
	int lines_before, columns_before;
	FILE *in, *out;
	int fd;
	struct termios modes;
	bool was_resized;
	int heat;
	struct sigaction taken_before[TAKEN], fatal_before[FATAL];
	char leave[LEAVE_MAX];
	size_t n_leave;
} screen;

static volatile sig_atomic_t interrupted, resized, ends;

static void note(int signal)
{
	if (signal == SIGINT)
		interrupted = 1;
	else if (signal == SIGWINCH)
		resized = 1;
	else if (signal == SIGTERM || signal == SIGHUP)
		ends = signal;
}

/* The process crashes: what would have happened happens then. */
static void leave_at_once(int signal)
{
	for (int i = 0; i < FATAL; i++)
		sigaction(fatal[i], &screen.fatal_before[i], NULL);
	if (write(screen.fd, screen.leave, screen.n_leave) < 0)
		screen.n_leave = 0; /* nothing can be done about it */
	tcsetattr(screen.fd, TCSANOW, &screen.modes);
	raise(signal);
}

/* Signals that mean something else to whoever has handled them are left alone, but for crashes that gdb tells of. */
static void take_signals(void)
{
	struct sigaction ours = { .sa_handler = note }, last = { .sa_handler = leave_at_once, .sa_flags = SA_NODEFER };

	interrupted = resized = ends = 0;
	for (int i = 0; i < TAKEN; i++)
		sigaction(taken[i], &ours, &screen.taken_before[i]);
	for (int i = 0; i < FATAL; i++) {
		sigaction(fatal[i], NULL, &screen.fatal_before[i]);
		if (fatal[i] != SIGBUS || screen.fatal_before[i].sa_handler == SIG_DFL)
			sigaction(fatal[i], &last, NULL);
	}
}

static void give_signals_back(void)
{
	for (int i = 0; i < TAKEN; i++)
		sigaction(taken[i], &screen.taken_before[i], NULL);
	for (int i = 0; i < FATAL; i++)
		sigaction(fatal[i], &screen.fatal_before[i], NULL);
}

/* Adds a sequence of the terminal's to what is written when the process crashes; delays are left out. */
static void add_leave(char *name)
{
	const char *text = tigetstr(name);

	if (!text || text == (char *)-1)
		return;
	for (; *text && screen.n_leave < LEAVE_MAX; text++) {
		if (text[0] == '$' && text[1] == '<' && strchr(text, '>'))
			text = strchr(text, '>');
		else
			screen.leave[screen.n_leave++] = *text;
	}
}

static bool can_move(void)
{
	char *move = tigetstr("cup"), *clear = tigetstr("clear");

	return move && move != (char *)-1 && clear && clear != (char *)-1;
}

/* ---- colours ---- */

static int heat_background(int i, int steps)
{
	static const short few[] = { COLOR_BLUE, COLOR_CYAN, COLOR_GREEN, COLOR_YELLOW };
	unsigned char c[3];

	if (COLORS < 256)
		return few[i];
	lbx_viridis((double)i / (steps - 1), c);
	return lbx_colour_of_256(c);
}

static void begin_colours(bool colour)
{
	if (!colour || !has_colors() || start_color() == ERR || COLORS < 8 || COLOR_PAIRS <= DIFFERS_PAIR)
		return;
	use_default_colors();
	screen.heat = COLORS < 256 ? 4 : HEAT_MAX;
	for (int i = 0; i < screen.heat; i++) {
		/* the dark half of viridis */
		bool dark = i < screen.heat * (COLORS < 256 ? 1 : 2) / (COLORS < 256 ? 4 : 3);
		int black = COLORS < 256 ? BLACK : 16, white = COLORS < 256 ? WHITE : 231;
		init_pair((short)(FIRST_PAIR + i), (short)(dark ? white : black),
			  (short)heat_background(i, screen.heat));
	}
	init_pair(MARKED_PAIR, WHITE, COLOR_MAGENTA);
	init_pair(DIFFERS_PAIR, COLOR_RED, -1);
}

int lbx_screen_heat(void)
{
	return screen.heat;
}

static chtype attributes(int style)
{
	switch (style) {
	case LBX_SCREEN_PLAIN: return A_NORMAL;
	case LBX_SCREEN_BOLD: return A_BOLD;
	case LBX_SCREEN_DIM: return A_DIM;
	case LBX_SCREEN_REVERSE: return A_REVERSE;
	case LBX_SCREEN_MARKED: return screen.heat ? COLOR_PAIR(MARKED_PAIR) | A_BOLD : A_BOLD | A_UNDERLINE;
	case LBX_SCREEN_DIFFERS: return screen.heat ? COLOR_PAIR(DIFFERS_PAIR) | A_BOLD : A_BOLD;
	default: return screen.heat ? COLOR_PAIR(FIRST_PAIR + style - LBX_SCREEN_HEAT) : A_NORMAL;
	}
}

/* ---- opening and closing ---- */

/* Whatever LINES and COLUMNS say. */
static void take_size(void)
{
	struct winsize size;

	resized = 0;
	if (ioctl(screen.fd, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

static void put_back(void)
{
	set_term(screen.before);
	set_curterm(screen.terminal_before);
	LINES = screen.lines_before;
	COLS = screen.columns_before;
	screen.is_open = false;
}

static bool open_files(void)
{
	if (!screen.in)
		screen.in = fopen("/dev/tty", "re");
	if (!screen.out)
		screen.out = fopen("/dev/tty", "we");
	if (screen.in && screen.out && tcgetattr(fileno(screen.in), &screen.modes) == 0) {
		screen.fd = fileno(screen.out);
		return true;
	}
	return lb_fail("there is no terminal here");
}

static void set_modes(void)
{
	struct termios modes;

	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(50);
	/* neither Ctrl-Z nor Ctrl-\: the terminal would stay as it is */
	if (tcgetattr(screen.fd, &modes) != 0)
		return;
	modes.c_cc[VSUSP] = modes.c_cc[VQUIT] = _POSIX_VDISABLE;
	tcsetattr(screen.fd, TCSADRAIN, &modes);
}

static bool take_screen(void)
{
	if (screen.ours) {
		set_term(screen.ours);
		set_curterm(screen.terminal);
		return can_move();
	}
	screen.ours = newterm(NULL, screen.out, screen.in);
	screen.terminal = cur_term;
	if (screen.ours && !can_move())
		endwin();
	return screen.ours && can_move();
}

bool lbx_screen_open(bool colour)
{
	if (screen.is_open)
		return lb_fail("the terminal shows a screen already");
	if (!open_files())
		return false;
	screen.heat = 0;
	screen.n_leave = 0;
	screen.was_resized = false;
	screen.lines_before = LINES;
	screen.columns_before = COLS;
	screen.terminal_before = cur_term; /* that of the screen, too, which set_term(NULL) takes away from it */
	screen.before = set_term(NULL);
	set_curterm(NULL);
	take_signals();
	if (!take_screen()) {
		put_back();
		give_signals_back();
		tcsetattr(screen.fd, TCSADRAIN, &screen.modes);
		return lb_fail("this terminal cannot show a screen (TERM)");
	}
	screen.is_open = true;
	add_leave("sgr0");
	add_leave("cnorm");
	add_leave("rmcup");
	set_modes();
	begin_colours(colour);
	take_size();
	clearok(curscr, TRUE);
	return true;
}

void lbx_screen_close(void)
{
	if (!screen.is_open)
		return;
	endwin();
	put_back();
	tcsetattr(screen.fd, TCSADRAIN, &screen.modes);
	give_signals_back();
	if (screen.was_resized || resized)
		raise(SIGWINCH); /* who has the terminal now learns it */
	if (ends)
		raise(ends);
}

/* ---- drawing ---- */

void lbx_screen_size(int *lines, int *columns)
{
	*lines = LINES;
	*columns = COLS;
}

void lbx_screen_clear(void)
{
	erase();
}

int lbx_screen_put(int line, int column, int room, int style, const char *text)
{
	char bytes[TEXT_MAX];
	int columns = 0;

	if (line < 0 || line >= LINES || column < 0 || column >= COLS)
		return 0;
	room = room < COLS - column ? room : COLS - column;
	if (room <= 0)
		return 0;
	snprintf(bytes, sizeof bytes, "%s", text);
	size_t n = lbx_columns_fit(bytes, room, &columns);
	if (!lbx_locale_is_utf8())
		n = lbx_to_ascii(bytes, n);
	attrset((int)attributes(style));
	mvaddnstr(line, column, bytes, (int)n);
	attrset(A_NORMAL);
	return columns;
}

void lbx_screen_show(int line, int column)
{
	curs_set(line >= 0);
	if (line >= 0)
		move(line, column);
	refresh();
}

void lbx_screen_redraw(void)
{
	clearok(curscr, TRUE);
}

/* ---- keys ---- */

static int key_of(int c)
{
	switch (c) {
	case ERR: return LBX_KEY_NONE;
	case KEY_UP: return LBX_KEY_UP;
	case KEY_DOWN: return LBX_KEY_DOWN;
	case KEY_LEFT: return LBX_KEY_LEFT;
	case KEY_RIGHT: return LBX_KEY_RIGHT;
	case KEY_PPAGE: return LBX_KEY_PAGE_UP;
	case KEY_NPAGE: return LBX_KEY_PAGE_DOWN;
	case KEY_HOME: return LBX_KEY_HOME;
	case KEY_END: return LBX_KEY_END;
	case KEY_RESIZE: return LBX_KEY_RESIZED;
	case KEY_BACKSPACE:
	case '\b': return LBX_KEY_BACKSPACE;
	case KEY_ENTER:
	case '\r':
	case '\n': return LBX_KEY_ENTER;
	default: return c > 0 && c < 128 ? c : LBX_KEY_NONE;
	}
}

/* Until there is something to read, a signal has come, or that time has passed: a signal that comes in between, too, ends the
 * wait. */
static bool wait_for_input(int ms)
{
	struct pollfd at = { .fd = fileno(screen.in), .events = POLLIN };
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	sigset_t ours, before;
	bool there = true;

	sigemptyset(&ours);
	for (int i = 0; i < TAKEN; i++)
		sigaddset(&ours, taken[i]);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	/* of a terminal that went all can be read, and nothing is */
	if (!interrupted && !resized && !ends && ppoll(&at, 1, ms < 0 ? NULL : &time, &before) > 0)
		there = !(at.revents & (POLLHUP | POLLERR | POLLNVAL));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return there;
}

int lbx_screen_key(int ms)
{
	for (bool has_waited = false;; has_waited = true) {
		if (ends)
			return LBX_KEY_GONE;
		if (interrupted) {
			interrupted = 0;
			return LBX_KEY_INTERRUPT;
		}
		if (resized) {
			take_size();
			screen.was_resized = true;
			return LBX_KEY_RESIZED;
		}
		int c = getch();
		if (c != ERR)
			return key_of(c);
		if (has_waited && ms >= 0)
			return LBX_KEY_NONE;
		if (!wait_for_input(ms))
			return LBX_KEY_GONE;
	}
}

bool lbx_screen_interrupted(void)
{
	bool was = interrupted;

	interrupted = 0;
	return was || ends;
}
#else
bool lbx_screen_open(bool colour)
{
	(void)colour;
	return lb_fail("this was built without ncurses (libncurses-dev)");
}

void lbx_screen_close(void)
{
}

void lbx_screen_size(int *lines, int *columns)
{
	*lines = *columns = 0;
}

int lbx_screen_heat(void)
{
	return 0;
}

void lbx_screen_clear(void)
{
}

int lbx_screen_put(int line, int column, int room, int style, const char *text)
{
	(void)line, (void)column, (void)room, (void)style, (void)text;
	return 0;
}

void lbx_screen_show(int line, int column)
{
	(void)line, (void)column;
}

void lbx_screen_redraw(void)
{
}

int lbx_screen_key(int ms)
{
	(void)ms;
	return LBX_KEY_GONE;
}

bool lbx_screen_interrupted(void)
{
	return true;
}
#endif
