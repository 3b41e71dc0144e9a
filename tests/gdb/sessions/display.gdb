# at the end of a step, at a breakpoint, at a catch, at a stop that has commands, and between processes
file stepped
tensor display
tensor undisplay
tensor undisplay 1
tensor display y x
tensor display p 'x[:4]' 'x[0]' x[2:2] abs(x).max() --peek
break rounds
run
next 3
next 2
tensor break y after
continue
print $tensor_id
next
tensor uncatch
tensor undisplay 1 2 9
tensor undisplay 1 2 1
delete
break stepped.c:27
commands
tensor display
end
continue
continue
# a break whose condition does not hold goes on, without a word
delete
tensor break --op exp after --if 'it.max() > 100'
tensor break p after --once
continue
tensor undisplay all
# operators may stand between blanks
tensor display x[:2] * 2 p p -
tensor undisplay
tensor display p
continue
tensor uncatch
tensor undisplay
