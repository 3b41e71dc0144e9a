tensor image q
tensor image q --range=0,20 --width 8
tensor image lazy
tensor image q[0]
tensor image q --out /nonexistent/q.png
tensor plot q --rows 3
tensor plot bad --rows 3
tensor hist lazy --bins 4
tensor hist nobody
tensor image q[:2] --as sixel --width 1
tensor image q --as ascii --width 4
tensor image q --as braille
tensor plot row --rows 2
tensor image bad[:1, :1] --as ascii --width 4
tensor image bad --json --values --width 2 --rows 2
tensor image q --values
tensor image q --json --values --width 1000 --rows 1000
