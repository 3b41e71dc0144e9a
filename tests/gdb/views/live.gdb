# not: gcore core minimal-core stripped stripped-attach static
tensor eval q
tensor catch misuse
tensor catch nan lazy
tensor uncatch all
tensor stacks 3
tensor stacks
tensor stacks 0
tensor step fused
tensor step
tensor step off
tensor where
tensor break
tensor break lazy
tensor uncatch all
tensor poke q[0, 0] = 0
tensor checkpoint --list
tensor checkpoint --delete 3
tensor restart
tensor restart 1
