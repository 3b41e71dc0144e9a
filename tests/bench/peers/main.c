/* How tests/bench/peers/run talks to a program: it writes lines, each is answered by one.
 *
 *	NAME FILE    computes the row, writes its result to FILE as floats, answers "NAME 0"
 *	NAME         measures the row for a while, answers "NAME SECONDS" of the best run
 *
 * and "NAME -" to a row that the program does not have. A row stays open until another is named,
 * so that the programs can take turns on it, each warmed up.
 *
 *	PROGRAM THREADS [cpu]    with cpu, time is the processor's, for one thread on a busy machine
 *	PROGRAM --rows           lists the rows */
#include "peers.h"

static const struct row rows[] = {
#define ROW(name, kind, dtype, m, n, k, unit, work, tolerance, reads, writes, flops, text) \
	{ #name, kind, dtype, m, n, k, unit, work, tolerance, reads, writes, flops, text },
#include "rows.def"
#undef ROW
};
enum { ROWS = sizeof rows / sizeof *rows };
static const char *const words[ROWS][2] = {
#define ROW(name, kind, dtype, m, n, k, unit, work, tolerance, reads, writes, flops, text) { #kind, #dtype },
#include "rows.def"
#undef ROW
};

static const struct row *open_row;

static const struct kind *select_row(const char *name)
{
	const struct row *row = NULL;
	for (int i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			row = &rows[i];
	if (!row || !peer_kinds[row->kind].run)
		return NULL;
	const struct kind *kind = &peer_kinds[row->kind];
	if (row != open_row) {
		if (open_row)
			peer_kinds[open_row->kind].close();
		open_row = kind->open(row) ? row : NULL;
	}
	return open_row ? kind : NULL;
}

static bool write_result(const struct kind *kind, const char *path)
{
	int64_t n = 0;
	float *x = kind->result(&n);
	FILE *f = fopen(path, "wb");
	bool ok = x && f && fwrite(x, sizeof *x, (size_t)n, f) == (size_t)n;
	if (f)
		ok &= fclose(f) == 0;
	free(x);
	return ok;
}

static clockid_t clock_id = CLOCK_MONOTONIC;

/* What another thread computes is on the processor's clock once that thread waits again: a nap lets it. */
static double now(void)
{
	struct timespec t = { .tv_nsec = 50000 };
	if (clock_id != CLOCK_MONOTONIC)
		nanosleep(&t, NULL);
	clock_gettime(clock_id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The best run is what the program can do; who else used the machine meanwhile does not count.
 * Each takes a millisecond at least, beside which reading the clock is nothing. */
static double measure(const struct kind *kind)
{
	double best = 0, begin = now();
	int times = 1;
	kind->run();
	double once = now() - begin;
	if (once < 1e-3)
		times = (int)(1e-3 / (once + 1e-9)) + 1;
	begin = now();
	for (int n = 0; n == 0 || now() - begin < (n < 3 ? 0.5 : 0.15); n++) {
		double t = now();
		for (int i = 0; i < times; i++)
			kind->run();
		t = (now() - t) / times;
		best = n == 0 || t < best ? t : best;
	}
	return best;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--rows")) {
		for (int i = 0; i < ROWS; i++)
			printf("%s\t%s\t%.17g\t%g\t%s\t%s\t%s\t%jd\t%jd\t%jd\n", rows[i].name, rows[i].unit,
			       rows[i].work, rows[i].tolerance, rows[i].text, words[i][0], words[i][1],
			       (intmax_t)rows[i].m, (intmax_t)rows[i].n, (intmax_t)rows[i].k);
		return 0;
	}
	char line[4096], name[64], path[4000];
	peer_start(argc > 1 ? atoi(argv[1]) : 1);
	if (argc > 2 && !strcmp(argv[2], "cpu"))
		clock_id = CLOCK_PROCESS_CPUTIME_ID;
	while (fgets(line, sizeof line, stdin)) {
		int words = sscanf(line, "%63s %3999s", name, path);
		if (words < 1)
			continue;
		const struct kind *kind = select_row(name);
		if (!kind)
			printf("%s -\n", name);
		else if (words == 1)
			printf("%s %.9g\n", name, measure(kind));
		else
			printf("%s %s\n", name, write_result(kind, path) ? "0" : "-");
		fflush(stdout);
	}
	return 0;
}
