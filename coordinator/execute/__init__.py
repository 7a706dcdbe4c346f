"""The shell around the state machine: executors, tasks, threads, the queue of builds."""
