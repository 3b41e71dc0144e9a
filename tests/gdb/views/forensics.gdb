tensor diff q q
tensor diff q[:, 1] row[:3]
tensor diff q blk.0.qt
tensor diff half brain --correct 0.5 --broken 100
tensor diff lazy lazy[:, :] --json
tensor owner 0x10
tensor freed
tensor suspect --all
tensor doctor --all
tensor doctor --only L1,nosuch
tensor explain L6a
