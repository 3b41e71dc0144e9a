file caught
set sysroot /
target remote | gdbserver --once - ./caught 2>/dev/null
tensor catch access reversed
tensor catch promote wide
tensor catch promote half
tensor catch recompile
tensor catch memory 0.5M
tensor catch graph 1199
continue
continue
continue
continue
continue
continue
tensor uncatch 3
tensor catch range turned -1 1
continue
continue
tensor uncatch
