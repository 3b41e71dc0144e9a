/* Commands of gdb that go on to read: further lines, or a terminal. A session has neither, so that gdb would take the next
 * request for what it waits for. */
#ifndef LBX_SERVE_READS_ON_H
#define LBX_SERVE_READS_ON_H

/* What to do instead, where the line is such a command; else NULL. */
const char *lbx_reads_on(const char *line);

#endif
