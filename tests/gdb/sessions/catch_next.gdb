# from a stop of ours next and until go on in the program's frame, as if it had stopped there
file stepped
tensor break y --once
run
next
next
next
tensor break y --once
continue
until
# something else stops the program first: a catch, which ends the script
tensor break p
tensor break y after
run
next
