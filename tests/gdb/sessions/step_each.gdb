# `step in` alone goes from op to op, and out of the last op of one evaluation into the first of the next
file stepped
break rounds
run
delete
tensor step in
tensor step in
tensor step in
tensor step in
tensor step in
tensor step in
tensor step in
tensor step in
next
tensor step in
tbreak graph-1.lb:7
continue
tensor step in
tensor step in
next
next
next
next
next
tensor step in
tensor step in
tensor step in
tensor step in
tensor step in
tensor step in
tensor step in
tensor step out
tensor step in
# a fused chain is one op
break rounds
tensor step fused
run
delete
tensor step in
tensor step in
tensor step in
tensor step in
tensor step in
tensor step in
next
tensor step in
tbreak compiled
continue
tensor step in
tensor step in
tensor step in
tensor step in
tensor step in
kill
