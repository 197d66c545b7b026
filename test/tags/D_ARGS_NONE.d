// tag: D_ARGS_NONE 2
inline int x = args[0];
BEGIN { trace(1); }
