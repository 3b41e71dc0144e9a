# a catch's stop in the middle of a user's command: it is told before the next of ours begins
file caught
tensor catch misuse rows
define go
run
tensor print $arg0
print $tensor_failed
end
go rows
