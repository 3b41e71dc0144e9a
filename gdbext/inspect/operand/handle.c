#include "inspect/operand/handle.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { TYPE_MAX = 128 };

static bool is_part_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The length of a word at its beginning that says nothing of what the type is; 0: none is there. */
static size_t skipped_word(const char *type, const char *at)
{
	static const char *const words[] = { "const", "volatile", "struct", "restrict" };

	if (at > type && is_part_of_word(at[-1]))
		return 0;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i]);
		if (strncmp(at, words[i], n) == 0 && !is_part_of_word(at[n]))
			return n;
	}
	return 0;
}

/* "ggml_tensor*" of "const struct ggml_tensor *" */
static void make_plain(const char *type, char ret[TYPE_MAX])
{
	size_t n = 0;

	for (const char *at = type; *at && n < TYPE_MAX - 1;) {
		size_t skipped = skipped_word(type, at);
		if (skipped)
			at += skipped;
		else if (isspace((unsigned char)*at))
			at++;
		else
			ret[n++] = *at++;
	}
	ret[n] = '\0';
}

static const struct lbx_provider *providers_of(const struct lbx_context *context)
{
	return context->providers ? context->providers : lbx_providers;
}

enum lbx_handle lbx_handle_of_type(const struct lbx_context *context, const char *type, const struct lbx_provider **ret)
{
	char plain[TYPE_MAX];

	make_plain(type, plain);
	for (*ret = providers_of(context); (*ret)->name; ++*ret) {
		size_t n = (*ret)->handle ? strlen((*ret)->handle) : 0;
		if (n == 0 || strncmp(plain, (*ret)->handle, n) != 0)
			continue;
		if (strcmp(plain + n, "*") == 0 || strcmp(plain + n, "*&") == 0)
			return LBX_HANDLE;
		if (plain[n] == '\0')
			return LBX_HANDLE_RECORD;
	}
	*ret = NULL;
	return LBX_NO_HANDLE;
}

bool lbx_type_is_of_handles(const struct lbx_context *context, const char *type)
{
	for (const struct lbx_provider *p = providers_of(context); p->name; p++)
		if (p->handle && strstr(type, p->handle))
			return true;
	return false;
}

const char *lbx_record_type(const struct lbx_context *context, const struct lbx_tensor *t)
{
	for (int i = 0; i < context->n_sets; i++)
		if (context->sets[i] == t->of && context->set_providers[i]->handle)
			return context->set_providers[i]->handle;
	return "";
}

struct lbx_tensors *lbx_handle_tensors(const struct lbx_context *context, const struct lbx_provider *provider)
{
	for (int i = 0; i < context->n_sets; i++)
		if (context->set_providers[i] == provider)
			return context->sets[i];
	return NULL;
}

void lbx_describe_handles(const struct lbx_context *context, char *ret, size_t size)
{
	size_t n = 0;

	snprintf(ret, size, "a tensor");
	for (int i = 0; i < context->n_sets && n < size; i++) {
		const struct lbx_provider *p = context->set_providers[i];
		if (p->handle)
			n += (size_t)snprintf(ret + n, size - n, "%s%s %s *", n ? " or " : "", p->article, p->handle);
	}
}
