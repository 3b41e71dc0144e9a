# A copy in memory that no tensor has: found in all that the program can write.
file named
break copied
run
tensor suspect --all
generate-core-file suspect.core
kill
core-file suspect.core
tensor suspect --all
