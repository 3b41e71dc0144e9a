file subject
break checkpoint
run huge
frame function main
pipe tensor eval endless | grep -o '.*wanted'
output $tensor_failed
echo \n
tensor eval lazy
kill
