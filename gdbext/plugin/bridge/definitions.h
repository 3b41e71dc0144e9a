/* gdb's side of the bridge: what the loader's script defines, but for the commands themselves (script.c). */
#ifndef LBX_PLUGIN_DEFINITIONS_H
#define LBX_PLUGIN_DEFINITIONS_H

extern const char lbx_definitions[];

#endif
