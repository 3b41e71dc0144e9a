# what there is before a name is followed, and what cannot be one
tensor follow
tensor follow --json
tensor follow --off
tensor follow --off --json
tensor follow --off q
tensor follow '#3'
tensor follow ''
tensor follow q --stat median
tensor follow q --last 1
