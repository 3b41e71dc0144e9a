/* Two functions that call each other until the stack is full. */
static int even(int n);

static int odd(int n)
{
	volatile char room[32];
	room[0] = (char)n;
	return even(n + 1) + room[0];
}

static int even(int n)
{
	volatile char room[32];
	room[0] = (char)n;
	return odd(n + 1) + room[0];
}

int main(void)
{
	return odd(0);
}
