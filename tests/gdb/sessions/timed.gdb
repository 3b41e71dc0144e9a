# What `maint time` prints goes into gdb's answers to the plugin, too.
file subject
break checkpoint
run
maint time 1
tensor print cache[2]
tensor info q
maint time 0
