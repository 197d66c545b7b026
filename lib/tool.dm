/*
 * tool: which processes the scripts in tools/ trace.
 */
module tool 1.0;

/* With -p or -c: that process and its children. Otherwise all. */
export inline int wanted = $target == 0 || progenyof($target);
