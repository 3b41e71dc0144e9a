# a user's own hook-stop is left alone, and may call ours
file stepped
define hook-stop
echo mine\n
end
tensor display n x
break rounds
run
define hook-stop
echo mine\n
_tensor_stopped
end
tensor display p
next 3
