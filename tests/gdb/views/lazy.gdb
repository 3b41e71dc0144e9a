tensor print lazy
tensor peek lazy --precision 3
tensor peek layer.w[1]
tensor print lazy[0]
tensor peek lazy[1, ::2] --precision 3
