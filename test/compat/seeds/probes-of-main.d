// run: -e -c /bin/true
// needs: root bpf
/* Every instruction of a function of a program: enabling them is what the talk about DTrace's own implementation traces. */
pid$target::exit:
{
}
