# not: mi
tensor display q row q[:2,:3] q[::-1,1] 'a name' bad half
tensor display lazy nosuch $nosuch q[7] layer.w #99999
tensor display lazy lazy[0] lazy[0,:2] --peek
tensor display q[0]*2 bad*0 q[3:] lazy[1] --json
tensor display
tensor display ''
tensor undisplay 3 1
tensor undisplay 3
tensor undisplay x
tensor undisplay 2 --json
tensor undisplay
tensor undisplay
tensor undisplay --json
