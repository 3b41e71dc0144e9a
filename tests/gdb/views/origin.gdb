tensor origin bad
printf "made by #%d\n", $tensor_origin
tensor origin lazy
tensor origin #16 --limit 2
tensor origin bad[0]
tensor origin bad --json
