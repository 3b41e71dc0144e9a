# A stack of 302 frames: main, descend() 300 times, checkpoint(). Each can be looked at; the number is the real one.
file deep
break checkpoint
run
tensor frame 200
tensor frame 301
tensor frame 302
tensor frame 3000
tensor frame 99999
frame 200
tensor locals
pipe tensor frame | grep -c -e '^  #' -e '238 more frames'
