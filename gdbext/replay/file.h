/* An array of a file (.npy, .npz, safetensors, GGUF), read where a damaged one harms nobody. */
#ifndef LBX_REPLAY_FILE_H
#define LBX_REPLAY_FILE_H

#include "replay/wire.h"

/* Answers the request: where the array lies in the file, or its elements after the request. */
bool lbx_answer_file(struct lbx_wire_file *request);

#endif
