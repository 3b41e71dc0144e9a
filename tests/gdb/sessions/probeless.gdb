shell mkdir -p probeless && objcopy -R .note.stapsdt stripped/liblazybones.so.0 probeless/liblazybones.so.0
file subject
set environment LD_LIBRARY_PATH probeless
break checkpoint
run
tensor step in
tensor break lazy
tensor catch nan
tensor catch access
tensor uncatch
tensor step on
kill
