/* Each row was looked up in the sources of llama.cpp and whisper.cpp between 2024-02 and 2026-08: at ten dates of the
 * first, at three of the second. What such a function calls of the same library counts for it; what it calls back does
 * not, as that has a row of its own, or none.
 *
 * Some wait for devices. On the CPU graphs are computed before the function returns that asks for them; what a device still
 * computes when llama_decode() has returned is its own, whether or not somebody waits for it.
 *
 * Not here, though their names say nothing of it: llama_kv_…_update and _defrag compute graphs, llama_memory_… and
 * llama_state_set_… write into caches, llama_set_sampler and llama_adapter_… reserve or build, whisper_lang_auto_detect
 * decodes, whisper_pcm_to_mel may compute on a device. */
#include "ggml/harmless.h"

#include <stddef.h>
#include <string.h>

/* One that ends with '_' stands for all that begin with it. */
static const char *const names[] = {
	"llama_sampler_", /* works on the logits' copy; what a sampler adds to a graph, llama_decode asks it for */
	"llama_sample_", /* the same, until 2024-09 */
	"llama_grammar_", /* rules and stacks of its own */
	"llama_get_logits", /* waits for devices, reorders a copy */
	"llama_get_logits_ith", /* the same */
	"llama_get_embeddings", /* the same */
	"llama_get_embeddings_ith", /* the same */
	"llama_get_embeddings_seq", /* the same, of a map */
	"llama_get_sampled_", /* the same, of what a back end has sampled */
	"llama_synchronize", /* waits for devices, counts time */
	"llama_get_model", /* reads a field */
	"llama_get_model_tensor", /* looks up a weight's name */
	"llama_get_memory", /* reads a field */
	"llama_get_kv_self", /* reads a field */
	"llama_get_kv_cache_token_count", /* counts cells */
	"llama_get_kv_cache_used_cells", /* reads a field, or compares positions */
	"llama_kv_self_n_tokens", /* the same */
	"llama_kv_self_used_cells", /* the same */
	"llama_kv_self_seq_pos_min", /* compares positions */
	"llama_kv_self_seq_pos_max", /* the same */
	"llama_kv_self_can_shift", /* reads a field */
	"llama_kv_cache_seq_pos_max", /* compares positions */
	"llama_kv_cache_can_shift", /* reads a field */
	"llama_memory_seq_pos_min", /* compares positions */
	"llama_memory_seq_pos_max", /* the same */
	"llama_memory_can_shift", /* reads a field */
	"llama_n_", /* reads a field */
	"llama_model_n_", /* reads a field, or adds up sizes */
	"llama_model_meta_", /* looks up text */
	"llama_model_desc", /* makes text */
	"llama_model_size", /* adds up sizes */
	"llama_model_ftype", /* reads a field */
	"llama_model_rope_type", /* reads a field */
	"llama_model_rope_freq_scale_train", /* reads a field */
	"llama_model_chat_template", /* looks up text */
	"llama_model_cls_label", /* looks up text */
	"llama_model_get_vocab", /* reads a field */
	"llama_model_has_encoder", /* reads a field */
	"llama_model_has_decoder", /* reads a field */
	"llama_model_decoder_start_token", /* reads a field */
	"llama_model_is_recurrent", /* reads a field */
	"llama_model_is_hybrid", /* reads a field */
	"llama_model_is_diffusion", /* reads a field */
	"llama_rope_type", /* reads a field */
	"llama_rope_freq_scale_train", /* reads a field */
	"llama_pooling_type", /* reads a field */
	"llama_vocab_", /* the vocabulary alone */
	"llama_token_", /* the vocabulary alone */
	"llama_add_bos_token", /* the vocabulary alone */
	"llama_add_eos_token", /* the vocabulary alone */
	"llama_tokenize", /* the vocabulary alone */
	"llama_detokenize", /* the vocabulary alone */
	"llama_chat_", /* makes text */
	"llama_batch_", /* allocates and frees arrays of numbers */
	"llama_perf_", /* reads and prints counts */
	"llama_get_timings", /* the same, until 2024-09 */
	"llama_print_timings", /* the same */
	"llama_reset_timings", /* the same */
	"llama_print_system_info", /* makes text */
	"llama_time_us", /* the clock */
	"llama_model_default_params", /* fills in a struct */
	"llama_context_default_params", /* fills in a struct */
	"llama_sampler_chain_default_params", /* fills in a struct */
	"llama_split_", /* makes a file's name */

	"whisper_full_get_", /* reads results that are finished */
	"whisper_full_n_", /* counts them */
	"whisper_full_lang_id", /* reads a field */
	"whisper_full_lang_id_from_state", /* reads a field */
	"whisper_full_default_params", /* fills in a struct */
	"whisper_full_default_params_by_ref", /* fills in a struct */
	"whisper_context_default_params", /* fills in a struct */
	"whisper_context_default_params_by_ref", /* fills in a struct */
	"whisper_get_logits", /* reads a field */
	"whisper_get_logits_from_state", /* reads a field */
	"whisper_get_timings", /* reads counts */
	"whisper_print_", /* prints counts, or makes text */
	"whisper_reset_timings", /* sets counts to 0 */
	"whisper_lang_id", /* a table of names */
	"whisper_lang_max_id", /* a table of names */
	"whisper_lang_str", /* a table of names */
	"whisper_lang_str_full", /* a table of names */
	"whisper_model_n_", /* reads a field */
	"whisper_model_ftype", /* reads a field */
	"whisper_model_type", /* reads a field */
	"whisper_model_type_readable", /* a table of names */
	"whisper_n_", /* reads a field */
	"whisper_is_multilingual", /* reads a field */
	"whisper_token_", /* the vocabulary alone */
	"whisper_tokenize", /* the vocabulary alone */
	"whisper_vad_n_probs", /* counts results */
	"whisper_vad_probs", /* reads a field */
	"whisper_vad_segments_n_segments", /* counts results */
	"whisper_vad_segments_get_", /* reads results */

	"ggml_time_", /* the clock */
	"ggml_nbytes", /* adds up a tensor's size */
	"ggml_nelements", /* the same */
};

static bool is_of(const char *function, const char *name)
{
	size_t n = strlen(name);

	return name[n - 1] == '_' ? strncmp(function, name, n) == 0 : strcmp(function, name) == 0;
}

bool lbx_ggml_is_harmless(const char *function)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (is_of(function, names[i]))
			return true;
	return false;
}
