file stepped
set environment LAZYBONES_ISA base
set environment GLIBC_TUNABLES glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL
set environment LAZYBONES_THREADS 1
set environment OPENBLAS_NUM_THREADS 1
set record full insn-number-max unlimited
break rounds
run
tensor step in
record full
next
next
next
next
next
tensor print p
reverse-next
tensor listing 1 --ranges
reverse-next
reverse-next
tensor print p
reverse-step
pipe bt | grep -o 'eval(graph.*\|rounds (.*'
tensor step frame
break graph-1.lb:1
reverse-continue
next
tensor print x
continue
record stop
tensor print p
delete
continue
