tensor print
tensor print nothing
tensor print q[9]
tensor print q[0, 0, 0]
tensor print q[
tensor print #999
tensor print q --nonsense
tensor list --limit some
tensor info q q
printf "failed: %d\n", $tensor_failed
tensor print q[0]
printf "failed: %d\n", $tensor_failed
tensor print lazy[5]
tensor stats lazy[0, 0, 0]
tensor peek lazy[-4]
tensor diff q[9] q
tensor print @&q:f65:1
tensor view &q f65 1
tensor diff q good.core
tensor list q q
tensor print ''
tensor print ""
tensor list --json=yes
tensor print 'q
tensor events 5
tensor peek la co
tensor peek 'la co'
tensor bt
tensor browse q
