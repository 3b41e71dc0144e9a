set width 0
tensor events --last 6
tensor events eval_*
tensor events --tensor #10
tensor events --last many
set width 80
