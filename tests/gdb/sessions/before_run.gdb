echo -- nothing loaded\n
tensor status
tensor print q
tensor set precision 3
tensor catch misuse q
tensor catch nonsense
tensor uncatch 9
tensor status
tensor catch nan
tensor catch eval q
tensor uncatch 1x
tensor uncatch 1 9
tensor uncatch 1 3
tensor uncatch
help tensor symbols
tensor help
file subject
echo -- not started\n
tensor list
tensor info q
tensor memory
tensor symbols
tensor view 0x1000 f32 4
tensor step frame
tensor step out
tensor step in
tensor eval q
tensor status --json
