# what gdb has told an earlier command holds no longer: the process has become a core, a core another process
file subject
break checkpoint
run
tensor print row
pipe tensor status | grep '^target'
generate-core-file standing.core
set var *(float *)$tensor_data = 7
tensor print row
tensor poke row[1] = 8
tensor print row
kill
core-file standing.core
tensor print row
pipe tensor status | grep '^target'
tensor print row
core-file
tensor print row
run
tensor print row
pipe tensor status | grep '^target'
# both at once
add-inferior -exec ./subject
inferior 2
core-file standing.core
tensor print row
pipe tensor status | grep '^target'
inferior 1
set var *(float *)$tensor_data = 9
tensor print row
pipe tensor status | grep '^target'
inferior 2
tensor print row
pipe tensor status | grep '^target'
