# a runtime without globs: its catch is disabled when it starts, the others are armed
file stepped
break rounds
run
tensor break 'z*'
tensor catch nan
set $i = 0
while root_fields[$i].name[0] != 'w' || root_fields[$i].name[6] != 'p'
set $i = $i + 1
end
set var root_fields[$i].name[0] = 'x'
set var lb_root_object.watch_all = 0
_tensor_hit start
pipe tensor status | grep watches
pipe info breakpoints | grep -o 'keep [yn].*op_start\|keep [yn].*:nan'
tensor break 'q*'
delete 1
continue
