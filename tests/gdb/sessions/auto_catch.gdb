# variables are refreshed at stops, also those of catches; not in the middle of a breakpoint's commands
file subject
tensor symbols --auto on
tensor catch nan
tensor catch misuse
break checkpoint
commands
silent
print $_exitcode
continue
end
break implicit
run
print layer_w
continue
frame
print tensor::bad[0]
continue
print q
print tensor::lazy[0]
tensor uncatch
finish
print tensor::q[1]
