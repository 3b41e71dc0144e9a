/* Memory that is used when it is gone, and beyond where it ends. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scene.h"

enum { ROWS = 600, COLUMNS = 600 }; /* more than 1 MiB: the buffer is a mapping of its own */

/* Reads a tensor's values by a pointer that outlives it. */
void play_stale_pointer(bool sick)
{
	const volatile float *row = NULL;
	lb_tensor *kept = NULL;

	lb_set_cache_limit(0);
	LB_SCOPE {
		lb_tensor *x = lb_named("activations", lb_exp(normal(ROWS, COLUMNS, 1)));
		row = lb_data(x);
		kept = sick ? NULL : lb_keep(x);
	}
	(void)(row[COLUMNS] + row[COLUMNS + 1]);
	lb_release(kept);
}

static __attribute__((noinline)) float first_of(const volatile float *const *row, bool dies)
{
	if (dies)
		raise(SIGSEGV);
	return **row;
}

/* Likewise, where the memory has another tensor's values meanwhile. */
void play_reused_memory(bool sick)
{
	const volatile float *row = NULL;
	lb_tensor *x = normal(32, 32, 2), *kept = NULL;

	lb_eval(x);
	LB_SCOPE {
		lb_tensor *y = lb_named("activations", lb_exp(x));
		row = lb_data(y);
		kept = sick ? NULL : lb_keep(y);
	}
	lb_tensor *gates = lb_named("gates", lb_tanh(x));
	lb_eval(gates);
	if (first_of(&row, sick) < 0) /* exp gives no such value */
		puts("no exp");
	lb_release(kept);
}

static struct table {
	lb_tensor *rows;
	const volatile float *values; /* of rows, as they were when there were none */
} tables[2];

/* Updates two tables, whose values are known by pointers: in place, but what somebody else keeps is copied. */
void play_kept_pointers(bool sick)
{
	lb_tensor *before = NULL;

	for (int i = 0; i < 2; i++) {
		LB_SCOPE {
			tables[i].rows = lb_keep(lb_named(i ? "second" : "first", normal(32, 32, (uint64_t)i)));
			tables[i].values = lb_data(tables[i].rows);
		}
	}
	if (sick)
		before = lb_keep(tables[1].rows);
	for (int i = 0; i < 2; i++) {
		LB_SCOPE {
			lb_eval(lb_replace(&tables[i].rows, lb_slice_update(tables[i].rows, lb_ones(LB_SHAPE(32), LB_F32),
									     LB_AT(3))));
		}
	}
	lb_release(before);
	if (first_of(&tables[1].values, sick) == 7)
		puts("seven");
}

/* Makes a tensor over a row of another, which is gone then: the next of its size gets that memory. */
void play_borrowed_row(bool sick)
{
	lb_tensor *row = NULL;

	LB_SCOPE {
		lb_tensor *x = lb_named("table", normal(64, 64, 1));
		lb_eval(x);
		row = lb_keep(lb_named("row", sick ? lb_from_memory((void *)(uintptr_t)lb_data(x), 64 * sizeof(float),
								    LB_SHAPE(64), LB_F32, NULL, NULL)
						   : lb_slice(x, LB_AT(0))));
		lb_eval(row);
	}
	lb_eval(lb_keep(lb_named("next", normal(64, 64, 2))));
}

/* Likewise, while the other is still there. */
void play_shared_by_address(bool sick)
{
	lb_tensor *x = lb_keep(lb_named("table", normal(64, 64, 1)));

	lb_eval(x);
	lb_tensor *row = sick ? lb_from_memory((void *)(uintptr_t)lb_data(x), 64 * sizeof(float), LB_SHAPE(64), LB_F32, NULL, NULL)
			      : lb_slice(x, LB_AT(0));
	lb_eval(lb_keep(lb_named("row", row)));
}

/* Keeps a few numbers of a large tensor, and by them all of it. */
void play_small_view(bool sick)
{
	LB_SCOPE {
		lb_tensor *x = normal(2048, 2600, 3);
		lb_eval(x);
		lb_tensor *head = lb_slice(x, LB_AT(0), LB_RANGE(0, 2));
		lb_eval(lb_keep(sick ? head : lb_multiply(head, lb_scalar(1))));
	}
}

/* Frees what a tensor was made over. */
void play_lent_too_short(bool sick)
{
	size_t bytes = (size_t)ROWS * COLUMNS * sizeof(float);
	void *pixels = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	lb_tensor *image =
	    lb_named("image", lb_from_memory(pixels, (int64_t)bytes, LB_SHAPE(ROWS, COLUMNS), LB_F32, NULL, NULL));

	if (sick)
		munmap(pixels, bytes);
	lb_eval(lb_sum(image, LB_ALL_AXES, false));
}

/* A loop that takes no notice of where its rows end: it runs on to the end of what is mapped. */
void play_loop_too_long(bool sick)
{
	lb_tensor *x = lb_named("frame", normal(ROWS, COLUMNS, 2));
	int64_t n = sick ? (int64_t)1 << 40 : ROWS * COLUMNS;
	volatile float *row;

	lb_eval(x);
	row = (float *)(uintptr_t)lb_data(x);
	for (int64_t i = 0; i < n; i++)
		row[i] = 0;
}

/* Writes one row too many into a small one, which lies among others on the heap; the program dies of it, or of something
 * else, much later. */
void play_heap_overrun(bool sick)
{
	lb_tensor *x[16];
	volatile float *row;

	for (int i = 0; i < 16; i++) {
		x[i] = lb_named("embedding", lb_add(normal(16, 16, 3), lb_scalar(i)));
		lb_eval(x[i]);
	}
	row = (float *)(uintptr_t)lb_data(x[5]);
	for (int i = 0; i < (sick ? 17 : 16) * 16; i++)
		row[i] = 1;
	if (sick)
		__builtin_trap();
}

/* One that malloc() maps by itself, with what aligns it in front and the rest of a page behind, among small ones. */
void play_large_among_small(bool sick)
{
	(void)sick;
	for (int i = 0; i < 40; i++)
		lb_eval(lb_keep(lb_named("small", normal(1, 16, i))));
	lb_eval(lb_keep(lb_named("table", normal(256, 128, 1))));
}

/* The file that a tensor lies in becomes shorter. */
void play_shorter_file(bool sick)
{
	size_t bytes = (size_t)ROWS * COLUMNS * sizeof(float);
	FILE *file = tmpfile();

	if (ftruncate(fileno(file), (off_t)bytes) != 0)
		abort();
	void *rows = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fileno(file), 0);
	lb_tensor *x =
	    lb_named("mapped", lb_from_memory(rows, (int64_t)bytes, LB_SHAPE(ROWS, COLUMNS), LB_F32, NULL, NULL));
	if (ftruncate(fileno(file), sick ? 0 : (off_t)bytes) != 0)
		abort();
	lb_eval(lb_sum(x, LB_ALL_AXES, false));
	fclose(file);
}

/* Ten intermediate values of 16 MiB each that a list holds until the last is computed. */
void play_held_temporaries(bool sick)
{
	LB_SCOPE {
		lb_tensor *x = normal(2048, 2048, 50), *sum = lb_zeros(LB_SHAPE(), LB_F32);
		for (int i = 0; i < 10; i++) {
			lb_tensor *h = lb_tanh(lb_multiply(x, lb_scalar(i + 1)));
			sum = lb_add(sum, lb_mean(h, LB_ALL_AXES, false));
			if (sick)
				lb_eval(h);
			else
				LB_SCOPE
					lb_eval(sum);
		}
		lb_eval(sum);
	}
}

static bool with_table(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)n_in;
	(void)n_out;
	if (*(const bool *)context)
		usleep(100000); /* a table that the host computes */
	out[0] = lb_tanh(in[0]);
	return lb_ok();
}

/* The first call traces a function that takes its time for that. */
void play_first_call(bool sick)
{
	lb_compiled *step = lb_compile("with_table", with_table, &sick, (lb_compile_options){ 0 });
	lb_tensor *x = lb_keep(normal(16, 16, 51)), *out;

	for (int i = 0; i < 6; i++)
		LB_SCOPE {
			if (lb_call(step, 1, &x, 1, &out))
				lb_eval(out);
		}
}

/* A loop that goes three elements too far, in a program that lives. Played with guards. */
void play_guarded_overrun(bool sick)
{
	lb_tensor *x;
	volatile float *row;

	setenv("LAZYBONES_GUARD", "1", 1);
	x = lb_keep(lb_named("scores", lb_add(normal(16, 16, 70), lb_scalar(1))));
	lb_eval(x);
	row = (float *)(uintptr_t)lb_data(x);
	for (int i = 0; i < 16 * 16 + (sick ? 3 : 0); i++)
		row[i] = 1;
}
