file subject
set language ada
tensor catch nan late
break checkpoint
run
frame function main
tensor print q[0]
tensor print row
tensor stats row --json
tensor eval lazy
show language
set language pascal
tensor print q[0]
tensor catch eval #18
set language fortran
tensor print q[0]
tensor print layer%b
tensor catch misuse q
set language rust
tensor print q[0]
tensor print layer.b
tensor catch implicit
tensor status
continue
continue
continue
show language
set language c
select-frame function main
tensor print layer.b
tensor uncatch
