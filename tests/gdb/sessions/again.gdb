file subject
break checkpoint
run
tensor print row
run
tensor print row
frame function main
tensor print layer.b
kill
tensor print row
run
tensor print row
detach
tensor print row
