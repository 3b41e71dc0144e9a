file subject
set follow-fork-mode child
set args fork
break checkpoint
run
tensor print row
continue
tensor print row
tensor print #17
up
tensor print layer.b
