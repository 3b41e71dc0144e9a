# TAB: of commands, of options, and of names that are symbols.
set width 0
complete tensor pr
complete tensor st
complete help tensor st
complete tensor model --
complete tensor list --s
complete tensor list mall
complete tensor list --limit mall
complete tensor list --nosuch
complete tensor catch m
complete tensor catch rec
complete tensor explain L9
complete tensor explain F1
complete tensor set p
complete tensor memory --s
complete tensor memory m
complete tensor freed --f
complete tensor frame --t
complete tensor list --sort 
complete tensor list --sort by
complete tensor list --state l
complete tensor memory --by d
complete tensor symbols --auto o
tensor explain L8
tensor explain l12 --json
tensor explain nothing
tensor set replay-seconds 8
tensor set edgeitems
help tensor catch misuse
apropos digest
help tensor model
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
# what completes is what was typed, also with `=`, shortened and in the middle; no word of gdb's own
tensor list --limit=2
tensor list --limit 1 l*
tensor list l* --lim 1 --sort=bytes
tensor list --sta ready --limit=1
# an option's values: one, shortened, with more behind it, behind another option, with `=`, none such, none
tensor list --sort name --limit 2
tensor list --sort nam l* --limit 1
tensor list --limit 1 --sort name
tensor list --sort=name --limit=1
tensor list --dtype i32 --limit 1
tensor list --sort nothing
tensor list --sort
tensor list --sort name bl* --state ready --op transpose --bytes 48
help tensor list --limit
