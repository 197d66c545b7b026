// Variables for cgroups, containers and namespaces.
// run: -q
BEGIN
{
	printf("%d\n", nspid > 0);
	printf("%d\n", pidns > 0);
	printf("%d\n", mntns > 0);
	printf("%d\n", netns > 0);
	printf("%d\n", userns > 0);
	printf("%d\n", sizeof (cgroupid));
	printf("%d\n", strlen(cgroupname) >= 0);
	printf("%d\n", strlen(containerid) >= 0);
	printf("%d\n", strstr(execargs, "engine=") != NULL);
	exit(0);
}
