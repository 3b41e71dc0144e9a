file plain-static
break main
run
tensor step in
print $tensor_failed
frame
