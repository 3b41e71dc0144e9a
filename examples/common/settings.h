/* The JSON files beside a model, as Hugging Face has them. */
#ifndef COMMON_SETTINGS_H
#define COMMON_SETTINGS_H

#include <jansson.h>
#include <stdint.h>

/* FOLDER/NAME, which the caller drops by json_decref(); NULL, having complained. */
json_t *settings_load(const char *folder, const char *name);
/* A number of it, or `otherwise` where there is none. */
int64_t settings_whole(const json_t *settings, const char *name, int64_t otherwise);
double settings_real(const json_t *settings, const char *name, double otherwise);

#endif
