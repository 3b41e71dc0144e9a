# gdb reads digits in the user's radix, in scripts, too
file subject
break checkpoint
run
frame function main
define numbers
tensor print row
with language c -- output $tensor_size
echo \ values, 
with language c -- output $tensor_nbytes
echo \ bytes\n
end
define languages
set input-radix $arg0
pipe tensor stats q | cat >/dev/null
print $tensor_id, $tensor_max
print $tensor_mean
pipe tensor origin bad | cat >/dev/null
print $tensor_origin
tensor print 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
tensor print 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65
show language
numbers
set language ada
numbers
set language rust
numbers
set language pascal
numbers
set language modula-2
numbers
set language fortran
numbers
set language d
numbers
set language go
numbers
set language minimal
numbers
set language auto
end
languages 0x2
languages 0x8
languages 0x10
languages 0xa
set input-radix 0x10
tensor eval lazy
tensor catch implicit
continue
pipe frame function implicit | cat >/dev/null
pipe tensor locals | grep " x ="
kill
