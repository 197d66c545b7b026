/* translators.d: what a script with translated arguments of tcp, io and proc takes to start (bench/compare). */
tcp:::send { @sent[args[2]->ip_daddr, args[4]->tcp_dport] = sum(args[2]->ip_plength - args[4]->tcp_offset); }
tcp:::receive { @received[args[2]->ip_saddr, args[4]->tcp_sport] = sum(args[2]->ip_plength - args[4]->tcp_offset); }
io:::start { start[args[0]->b_edev, args[0]->b_blkno] = timestamp; @io[args[1]->dev_statname, args[2]->fi_pathname] = sum(args[0]->b_bcount); }
io:::done /start[args[0]->b_edev, args[0]->b_blkno]/ { @took[args[1]->dev_statname] = quantize(timestamp - start[args[0]->b_edev, args[0]->b_blkno]); start[args[0]->b_edev, args[0]->b_blkno] = 0; }
proc:::exec-success { printf("%d %s\n", pid, curpsinfo->pr_psargs); }
proc:::exit { printf("%d %d %s\n", pid, arg0, curpsinfo->pr_fname); }
BEGIN { exit(0); }
