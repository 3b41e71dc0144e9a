# A program that replaces itself is another, though it has the same files open; its addresses are drawn anew.
file execs
set auto-solib-add off
set disable-randomization off
break checkpoint
run
tensor print row
tensor print row
continue
tensor print row
kill
