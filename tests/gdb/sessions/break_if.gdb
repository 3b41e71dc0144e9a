# only if what it says of tensors holds
file stepped
tensor break y --if 'it.max() >'
tensor break y before --if 'it > 1'
tensor break y --if 'it.max() > 1000'
tensor break p after --if '(it[0, 0] == 14) & (it[1, 1] > 100)'
tensor status
break rounds
run
continue
tensor print p[1]
# another breakpoint at the same place stops all the same
tensor uncatch 1
tensor break p after --if 'it.mean() < 0'
tensor break p after --once
continue
tensor uncatch all
tensor break p after --if 'nobody > 3'
continue
tensor uncatch all
tensor break 'p' --if 'it.sum() > x.sum() * 100'
continue
tensor uncatch all
