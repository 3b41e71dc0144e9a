tensor info q
tensor info blk.0.qt
tensor info #17
