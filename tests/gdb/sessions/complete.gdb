# TAB: of commands, and of names that are symbols.
set width 0
complete tensor pr
complete tensor st
complete help tensor st
file subject
break checkpoint
run
up
complete tensor print blk
complete tensor print unnam
tensor symbols blk*
complete tensor print blk
complete tensor image blk_
complete print tensor::blk
