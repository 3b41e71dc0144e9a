# A copy in memory that no tensor has: found in all that the program can write.
file named
break copied
run
pipe tensor suspect --all --json | grep -c 'hold the elements of the view turned (#[0-9]*, float32 (16, 4), ready) in storage order'
generate-core-file suspect.core
kill
core-file suspect.core
pipe tensor suspect --all --json | grep -c 'hold the elements of the view turned (#[0-9]*, float32 (16, 4), ready) in storage order'
