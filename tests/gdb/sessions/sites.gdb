# A listing with a thousand call sites: each is told.
file deep
tensor step on
break descend
run
pipe tensor listing 1 | grep -c '# deep.c:[0-9]* many_sites'
