# not: live attach remote stripped-attach minimal mi
tensor eval lazy
tensor catch misuse
tensor uncatch all
tensor stacks 3
tensor step on
