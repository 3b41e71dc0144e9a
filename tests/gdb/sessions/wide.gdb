# Columns stand below each other whatever the characters of a name.
set environment LAZYBONES_STEP=1
file wide
break checkpoint
run
tensor list
with width 56 -- tensor list
with width 26 -- tensor list
tensor graph 和
tensor listing 2
tensor model
