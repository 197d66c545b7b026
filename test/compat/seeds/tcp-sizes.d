// run: -e
// needs: root bpf btf
/* Sizes of what TCP receives, by sender. (Three colons: with two, tcp would be a module.) */
tcp:::receive
{
	@[args[2]->ip_saddr] = quantize(args[2]->ip_plength);
}
