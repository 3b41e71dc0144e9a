#include "serve/page.h"

#include <string.h>

/* The bytes of a file of gdbext/serve/page, as they were when this was compiled, from the top of the tree. */
#define BYTES_OF(symbol, name, path, type) \
	__asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"gdbext/serve/page/" name "\"\n" #symbol "_end:\n" \
		".byte 0\n.popsection\n"); \
	extern const char symbol[], symbol##_end[];

/* name of the symbol, file, path, type */
#define FILES(FILE) \
	FILE(page_index, "index.html", "/", "text/html") \
	FILE(page_style, "style.css", "/style.css", "text/css") \
	FILE(page_docs, "docs.html", "/docs", "text/html") \
	FILE(page_docs_script, "docs.js", "/docs.js", "text/javascript") \
	FILE(page_app, "app.js", "/app.js", "text/javascript") \
	FILE(page_api, "api.js", "/api.js", "text/javascript") \
	FILE(page_dom, "dom.js", "/dom.js", "text/javascript") \
	FILE(page_source, "source.js", "/source.js", "text/javascript") \
	FILE(page_tensors, "tensors.js", "/tensors.js", "text/javascript") \
	FILE(page_card, "card.js", "/card.js", "text/javascript") \
	FILE(page_heat, "heat.js", "/heat.js", "text/javascript") \
	FILE(page_heats, "heats.js", "/heats.js", "text/javascript") \
	FILE(page_looks, "looks.js", "/looks.js", "text/javascript") \
	FILE(page_raster, "raster.js", "/raster.js", "text/javascript") \
	FILE(page_gestures, "gestures.js", "/gestures.js", "text/javascript") \
	FILE(page_chart, "chart.js", "/chart.js", "text/javascript") \
	FILE(page_memory, "memory.js", "/memory.js", "text/javascript") \
	FILE(page_fold, "fold.js", "/fold.js", "text/javascript") \
	FILE(page_graph, "graph.js", "/graph.js", "text/javascript")

FILES(BYTES_OF)

const struct lbx_page_file *lbx_page_find(const char *path)
{
#define ROW(symbol, name, path, type) { path, type "; charset=utf-8", symbol, symbol##_end },
	static const struct lbx_page_file files[] = { FILES(ROW) };
#undef ROW

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (strcmp(files[i].path, path) == 0)
			return &files[i];
	return NULL;
}
