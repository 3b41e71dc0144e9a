file caught
tensor catch access
run
next
next
stepi
finish
continue
print $_siginfo.si_signo
next
print copy[0]
tensor uncatch
continue
