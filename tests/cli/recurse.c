/* Two functions that call each other until the stack is full, one of them by a third, which is inlined. */
static int even(int n);

static int odd(int n)
{
	volatile char room[32];
	room[0] = (char)n;
	return even(n + 1) + room[0];
}

static inline __attribute__((always_inline)) int again(int n)
{
	return odd(n + 1);
}

static int even(int n)
{
	volatile char room[32];
	room[0] = (char)n;
	return again(n) + room[0];
}

int main(void)
{
	return odd(0);
}
