/* The page for people: files that are part of this program. */
#ifndef LBX_SERVE_PAGE_H
#define LBX_SERVE_PAGE_H

struct lbx_page_file {
	const char *path, *type;
	const char *bytes, *end;
};

/* NULL: none has that path. */
const struct lbx_page_file *lbx_page_find(const char *path);

#endif
