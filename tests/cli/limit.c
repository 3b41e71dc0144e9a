/* Dies while a variable leads to where a block of pointers ends: behind it lies a file that cores do not save. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lazybones.h"

struct stack {
	lb_tensor **top, **limit;
};

static void die(struct stack *stack)
{
	(void)stack;
	abort();
}

int main(int argc, char **argv)
{
	const size_t page = 4096;
	int fd = open(argv[argc - 1], O_RDONLY);
	char *block = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stack stack = { (lb_tensor **)block, (lb_tensor **)(block + page) };

	if (block == MAP_FAILED || fd < 0 ||
	    mmap(block + page, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		return 1;
	*stack.top = lb_keep(lb_named("topmost", lb_ones(LB_SHAPE(2), LB_F32)));
	die(&stack);
}
