file subject
break checkpoint
run
tensor print row
add-inferior -exec plain
inferior 2
tensor print row
break main
run
tensor print row
add-inferior -exec subject
inferior 3
run
tensor print row[0]
inferior 1
tensor print row[1]
inferior 2
tensor print row
