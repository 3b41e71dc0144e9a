file subject
break checkpoint
run
frame function main
set $p = (float *)lb_raw_data(cache[2])
print $p
tensor symbols
print $p
print $p + 5
x/2fw $p + 1
tensor at $p+5
continue
run
frame function main
set $p = (float *)lb_raw_data(cache[2])
print $p
tensor list q
print $p
frame
# what C adds to a pointer is no sum
tensor print (lb_tensor *)cache[2] + 1
tensor print '(lb_tensor *)cache[2]' + 1
tensor print *cache[2]
