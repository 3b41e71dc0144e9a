/* The tensors that variables of a frame point to, as a session tells them where it stops. */
#ifndef LBX_RECORD_HELD_H
#define LBX_RECORD_HELD_H

#include <stdint.h>

#include <jansson.h>

enum {
	LBX_FRAMES_AT_STOP = 48,
	LBX_READ_AT_STOP = 4 << 20, /* bytes of values, of which figures are kept */
};

/* Adds to `held` those of `tensors`, as `list` tells them, whose record is at this address, with "variable", a name, which it
 * takes over, and "type", unless that is NULL. */
void lbx_add_held(json_t *held, const json_t *tensors, uint64_t address, json_t *variable, json_t *type);

#endif
