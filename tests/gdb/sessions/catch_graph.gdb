# A graph grows without evaluation: the catch names the newest tensor, of the turn under way.
file named
tensor catch graph 1000
run
frame function grow
print i
set $newest = $tensor_id
tensor print total
print $newest > $tensor_id && $newest < $tensor_id + 5
