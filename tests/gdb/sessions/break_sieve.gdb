# gdb itself judges what a condition says of one element, and of a shape: no stop where that is false
file sieved
break turn_ended
run
tensor break v --if '(it > 2.5) & (it < 3.5)'
continue
continue
tensor uncatch all
tensor break v --if '(it < -1) | (7 == it)'
continue
# it has been hit without a word, but only by dtypes that gdb does not know, by several elements, and by none that has no memory
pipe info breakpoints | grep -A1 'stop only' | grep hit
tensor uncatch all
tensor break v before --if 'it.ndim > 1'
set input-radix 16
continue
continue
pipe info breakpoints | grep -A1 'stop only' | grep hit
set input-radix 10
tensor uncatch all
# the runtime itself looks for values outside a range: no stop at all
tensor break v --if '(abs(it) > 1e7).any()'
tensor break v --if 'it.max() > 999999'
continue
tensor print v
continue
pipe tensor status | grep ^catch
pipe info breakpoints | grep -c 'lazybones:range'
