file subject
source ../../lazybones.gdb
break checkpoint
run
source ../../lazybones.gdb
tensor print row
