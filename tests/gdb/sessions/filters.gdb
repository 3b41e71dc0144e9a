# What list is to show: places, scopes, values, and what came since a mark.
file went
break step
break checkpoint
run
tensor memory mark here
delete 1
continue
up
tensor list --site went.c
tensor list --site went.c:13
tensor list --site other.c
tensor list --scope main --bytes '>=8'
tensor list --scope step
tensor list --shape '(*)' --op full
tensor list --nan
tensor list --since here
tensor list --since there
tensor list --shape two
