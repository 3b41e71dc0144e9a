#include "target/private_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char template[] = "/lazybones-XXXXXX";
/* behind it come the names of files */
enum { FILE_NAME = 64, PARENT_MAX = LBX_FOLDER_MAX - sizeof template - FILE_NAME };

static bool is_usable(const char *parent)
{
	return parent && *parent == '/' && strlen(parent) <= PARENT_MAX && !strpbrk(parent, " \t\n\v\f\r\"'\\$#%*?[~");
}

bool lbx_private_folder(const char *what, char ret[LBX_FOLDER_MAX])
{
	const char *parent = getenv("TMPDIR");

	if (!is_usable(parent))
		parent = "/tmp";
	snprintf(ret, LBX_FOLDER_MAX, "%s%s", parent, template);
	if (mkdtemp(ret))
		return true;
	*ret = '\0';
	return lb_fail("cannot make a folder for %s in %s: %s: make that possible, or start again with another TMPDIR",
		       what, parent, strerror(errno));
}
