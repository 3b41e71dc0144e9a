file stepped
break rounds
run
tensor break p
tensor catch range p 0 1
tensor catch memory 1G
pipe tensor status | grep -A 2 'watches\|^catch'
delete 4
pipe tensor status | grep -A 2 'watches\|^catch'
delete 5 2
pipe tensor status | grep -A 2 'watches\|^catch'
pipe info breakpoints | grep -c 'lazybones:'
tensor break p
tensor print x
delete breakpoints
pipe tensor status | grep -A 2 'watches\|^catch'
tensor break p
delete
output $tensor_failed
echo \n
pipe tensor status | grep -A 2 'watches\|^catch'
show user hookpost-delete
continue
delete
