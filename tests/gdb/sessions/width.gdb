# Errors and answers end their lines between words, where gdb's width says: unlimited is whole lines.
file subject
tensor print nobody
with width 60 -- tensor print nobody
with width 0 -- tensor print nobody
pipe tensor print nobody | cat
with width 50 -- tensor status
break checkpoint
run
up
with width 60 -- tensor print nobody
with width 60 -- tensor diff q blk.0.qt
with width 0 -- tensor print nobody
with width 0 -- tensor diff q blk.0.qt
pipe tensor diff q blk.0.qt | cat
with width 120 -- tensor print nobody
with width 60 -- tensor list
with width 40 -- tensor list *a*
with width 120 -- tensor list
