file caught
define hook-quit
echo the user's own\n
end
break pile_up
run
tensor stacks 3
tensor stacks 4
tensor step on
tensor step fused
tensor catch nan
tensor catch access
tensor catch memory 1G
tensor catch graph 1000000
tensor catch range total 0 1
pipe tensor status | grep -A 3 watches
show user hook-detach
show user hook-quit
_tensor_leave
tensor stacks
tensor step
pipe tensor status | grep -A 4 watches
detach
tensor uncatch
