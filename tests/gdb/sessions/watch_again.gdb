file subject
break checkpoint
run
tensor symbols half
watch tensor::half[0][0]
run
tensor symbols half
print tensor::half[0][1]
info watchpoints
kill
run
echo alive\n
