file subject
break checkpoint
run
tensor print unnamed
up
tensor print unnamed
tensor print layer.b
frame
thread 2
tensor print unnamed
tensor print row
thread
thread 1
tensor list q
frame function main
tensor print q[0]
tensor symbols
frame
