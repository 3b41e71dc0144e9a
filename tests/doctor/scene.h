/* Programs that are sick, and their healthy twins: one program with many scenes. Each is played to the moment at which
 * somebody would look; then it waits for the end of its input.
 *
 * A scene is a function in a file here and a row in scenes.def: SCENE(name, rule), whose play_name(true) has what the rule
 * finds, and whose play_name(false) does the same work well. Of a DEATH the sick one ends with a core. */
#ifndef TESTS_DOCTOR_SCENE_H
#define TESTS_DOCTOR_SCENE_H

#include <lazybones.h>
#include <stdbool.h>

#define SCENE(name, rule) void play_##name(bool sick);
#include "scenes.def"
#undef SCENE

/* Data of a scene: the same in every run. */
static inline lb_tensor *normal(int64_t rows, int64_t columns, uint64_t key)
{
	return lb_random_normal(LB_SHAPE(rows, columns), LB_F32, lb_key(key));
}

#endif
