/* The program that gdb debugs, as a target: alive, remote or dead. */
#ifndef LBX_PLUGIN_TARGET_GDB_H
#define LBX_PLUGIN_TARGET_GDB_H

#include "plugin/bridge/bridge.h"
#include "target/target.h"

/* A target over `read`, which must be valid as long as it is used. There is one such target;
 * it need not be destroyed. */
struct lbx_target *lbx_target_gdb(lbx_bridge_read *read);
/* The same again, while a command runs. */
struct lbx_target *lbx_target_gdb_now(void);
/* Asks gdb; LBX_UNKNOWN until it has answered. */
enum lbx_liveness lbx_target_gdb_liveness(void);

/* For a command that reads much: has gdb asked what it takes to read past gdb. False: gdb has not answered yet. */
bool lbx_target_gdb_expect(void);

/* Keeps the address of a root that a JIT entry told. */
void lbx_target_gdb_remember_root(uint64_t address);
/* The i-th of them, the newest first; perhaps of another program. False after the last. */
bool lbx_target_gdb_root(int i, uint64_t *ret);

#endif
