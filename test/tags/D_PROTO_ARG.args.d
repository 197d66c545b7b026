// tag: D_PROTO_ARG 2
syscall::read:entry { trace(args[pid]); }
