# variables are refreshed at stops: no catch that stops at the same place is forgotten
file subject
break checkpoint
run
tensor symbols --auto on
tensor catch eval lazy
tensor break lazy after
continue
select-frame function main
print tensor::lazy[0]
