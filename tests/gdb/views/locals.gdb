# not: attach core minimal-core stripped stripped-attach static
tensor frame 1
tensor locals
