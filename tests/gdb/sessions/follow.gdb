# a value at each evaluation: from before the program begins, from run to run, to its end
file followed
set environment FOLLOWED_QUIET 1
tensor follow loss
tensor follow
break followed.c:16
run
continue
continue
tensor follow
tensor follow --json
continue
# another name, and a figure of it; a log takes no place of it
tensor follow w --stat max
tensor log w --out followed.jsonl
next
run 3
tensor follow 'w,l*' --json
next
# a variable's, whose tensor has no name yet
continue
tensor follow loss
# no more
tensor follow --off
tensor follow
continue
# nor does it take the place of a log
tensor log w --out followed.jsonl
tensor follow w
tensor log --off
tensor follow w
next
detach
# what it cannot be of
file plain
delete
break main
run
tensor follow q
kill
tensor follow --off
