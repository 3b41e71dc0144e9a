# not: minimal
file subject
break checkpoint
run
select-frame function main
set $root = (unsigned long *)&lb_symtab_root
define try
tensor status
tensor list
tensor print q
tensor info lazy
tensor graph lazy
tensor at 0x1000
tensor events
end
define damage
set $n = 0
set $word = 0
while $word < sizeof(lb_symtab_root) / 8
set $was = $root[$word]
set var $root[$word] = $arg0
try
set var $root[$word] = $was
set $n = $n + 1
set $word = $word + 1
end
end
with logging redirect on -- with logging file /dev/null -- with logging enabled on -- damage 0
with logging redirect on -- with logging file /dev/null -- with logging enabled on -- damage -1
with logging redirect on -- with logging file /dev/null -- with logging enabled on -- damage 0x7ffff7000001
with logging redirect on -- with logging file /dev/null -- with logging enabled on -- damage $was+8
print $n > 100
set var $root[0] = 0
tensor list
set var $root[0] = 0x0a0d73656e6f427a
tensor print q
kill
