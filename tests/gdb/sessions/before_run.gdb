echo -- nothing loaded\n
tensor status
tensor print q
tensor set precision 3
tensor catch misuse q
tensor catch nonsense
tensor uncatch 9
tensor status
tensor uncatch
help tensor symbols
tensor help
file subject
echo -- not started\n
tensor list
tensor eval q
tensor status --json
