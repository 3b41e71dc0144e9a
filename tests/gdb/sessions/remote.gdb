file subject
set sysroot /
target remote | gdbserver --once - ./subject 2>/dev/null
tensor print q
tensor catch misuse
tensor catch eval lazy
tensor catch nan late
continue
continue
tensor print lazy --precision 3
continue
tensor uncatch
continue
