file subject
starti
tensor list
tensor status
tensor catch eval lazy
continue
tensor print lazy --precision 3
