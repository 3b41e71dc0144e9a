/* Every inspection over many damaged programs (the sanitizer build is where this tells most). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "damage.h"

enum { ROUNDS = 100 };

static void survives(bool shuffled, bool maps, uint64_t random)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct image image;
		image_create_whole(&image, shuffled);
		image.maps = maps;
		image_damage(&image, &random);
		image_inspect(&image);
		image_destroy(&image);
	}
}

static void own_layout(void **state)
{
	(void)state;
	survives(false, false, 11);
	survives(false, true, 12);
}

static void another_layout(void **state)
{
	(void)state;
	survives(true, false, 13);
	survives(true, true, 14);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_layout),
		cmocka_unit_test(another_layout),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
