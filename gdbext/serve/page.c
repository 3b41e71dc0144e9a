#include "serve/page.h"

#include <string.h>

/* The bytes of a file of gdbext/serve/page, as they were when this was compiled, from the top of the tree. */
#define FILE_OF(symbol, name) \
	__asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"gdbext/serve/page/" name "\"\n" #symbol "_end:\n" \
		".byte 0\n.popsection\n"); \
	extern const char symbol[], symbol##_end[]

FILE_OF(page_index, "index.html");
FILE_OF(page_style, "style.css");
FILE_OF(page_app, "app.js");
FILE_OF(page_docs, "docs.html");
FILE_OF(page_docs_script, "docs.js");

const struct lbx_page_file *lbx_page_find(const char *path)
{
	static const char html[] = "text/html; charset=utf-8", script[] = "text/javascript; charset=utf-8",
			  style[] = "text/css; charset=utf-8";
	static struct lbx_page_file files[] = {
		{ "/", html, page_index, 0 },
		{ "/style.css", style, page_style, 0 },
		{ "/app.js", script, page_app, 0 },
		{ "/docs", html, page_docs, 0 },
		{ "/docs.js", script, page_docs_script, 0 },
	};
	static const char *const ends[] = { page_index_end, page_style_end, page_app_end, page_docs_end,
					    page_docs_script_end };

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (strcmp(files[i].path, path) != 0)
			continue;
		files[i].n = (size_t)(ends[i] - files[i].bytes);
		return &files[i];
	}
	return NULL;
}
