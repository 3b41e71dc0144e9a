/* lazybones sites: text with code addresses in it, as tracers write it, with functions and lines. */
#ifndef LBX_SITES_H
#define LBX_SITES_H

/* argv: `sites`, and what follows. From standard input to standard output, until its end. Returns the exit
 * status. */
int lbx_sites(char **argv);

#endif
