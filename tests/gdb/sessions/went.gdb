# What has gone is told when and where; $tensor_id is fed back; one name of several tensors.
file went
break checkpoint
run
up
tensor print old
tensor print stale
tensor locals
tensor events gone
tensor info here
tensor print #$tensor_id
tensor print #$tensor_id + $tensor_id
tensor print $tensor_id
tensor print '#$tensor_id'
tensor print #$nothing
tensor print w
tensor print w@1
set $i = 1
tensor print w@$i
tensor print w@$i * 2
tensor print w@$none
continue
up
tensor print w
tensor print #1
tensor print #2
tensor print stale
tensor locals
pipe tensor locals --json | grep -o '"gone":.*'
continue
# what a call of the library lets go of, its caller has
tensor events gone --last 1
continue
# more than any disk has room for, in a view of one element: none is filled
pipe tensor save vast vast.npy | sed 's/room for .*/room for less/'
shell ls | grep vast
