tensor info row --json
tensor list q --json
tensor print row --json
tensor print nothing --json
tensor weights /nonexistent/q.npy --json
tensor bt --json
tensor doctor --json
tensor explain L2 --json
tensor history q --json
