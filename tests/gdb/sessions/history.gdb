# The values that a name has had: those that are gone, there, lazy; and what a log tells of them.
file went
set environment LAZYBONES_LOG went-history.jsonl
break checkpoint
run
tensor history w
continue
tensor history w
tensor history here
tensor history old
tensor history w --log went-history.jsonl --limit 3
tensor history w --json
tensor history nosuch
tensor history w --log nosuch.jsonl
# how far back that is known
kill
set environment LAZYBONES_EVENTS 8
run
continue
tensor history w
