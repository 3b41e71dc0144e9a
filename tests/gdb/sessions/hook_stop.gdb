# a user's own hook-stop is left alone, and may call ours
file typed
define hook-stop
echo mine\n
end
tensor symbols --auto on
define hook-stop
echo mine\n
_tensor_stopped
end
tensor symbols --auto on
break stop
run
print d_u16
continue
complete print d_u
print weight
kill
tensor symbols --remove --auto off
complete print weig
